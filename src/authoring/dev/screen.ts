import { printable, printableWithColors } from '#util/printable-text.ts';

/** Output of a terminal. */
export interface Terminal {
  write(text: string): void;
  /** Present size of the window. */
  readonly columns: number;
  readonly rows: number;
}

/**
 * Lines of text above, and below them an area that is drawn again whenever it changes: errors that are pinned, then the rest. Control
 * characters are escaped, so that no text of a cluster acts on the terminal.
 */
export class Screen {
  readonly #terminal: Terminal;
  readonly #howToSeeAll: string;
  #pinned: readonly string[] = [];
  #area: readonly string[] = [];
  /** Number of lines of the area that are drawn. */
  #drawn = 0;

  /** @param howToSeeAll follows the count of lines that do not fit. */
  constructor(terminal: Terminal, howToSeeAll = '') {
    this.#terminal = terminal;
    this.#howToSeeAll = howToSeeAll;
  }

  /**
   * Prints lines above the area.
   * @param content `colored`: with codes of colors, whose other parts are printable
   */
  print(text: string, content: 'plain' | 'colored' = 'plain'): void {
    this.#draw(`${content === 'colored' ? printableWithColors(text) : printable(text)}\n`);
  }

  /** Shows lines, which may have colors, above the rest of the area until others replace them, so that they stay visible. Empty: none. */
  pin(text: string): void {
    this.#pinned = text === '' ? [] : printableWithColors(text).split('\n');
    this.#draw('');
  }

  /** Replaces the area below the pinned lines. */
  show(shown: readonly string[]): void {
    const lines = shown.map(printable);
    if (lines.length === this.#area.length && lines.every((line, at) => line === this.#area[at]))
      return;
    this.#area = lines;
    this.#draw('');
  }

  #draw(above: string): void {
    const lines = this.#fitting();
    // Move to the first line of the area, and clear everything below.
    const back = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\r\u001b[J`;
    this.#drawn = lines.length;
    this.#terminal.write(back + above + lines.map((line) => `${line}\n`).join(''));
  }

  /** The area cut to the window: lines that wrap or scroll cannot be overwritten. */
  #fitting(): readonly string[] {
    const { columns, rows } = this.#terminal;
    const room = Math.max(1, rows - 2);
    const lines = this.#pinned.flatMap((line) => wrapLine(line, columns - 1));
    // The rest keeps half of the window if it needs it.
    const rest = Math.min(this.#area.length, Math.floor(room / 2));
    const pinned = cutTo(lines, room - rest, ' lines');
    const area = cutTo(this.#area, Math.max(1, room - pinned.length), this.#howToSeeAll);
    return [...pinned, ...area.flatMap((line) => wrapLine(line, columns - 1).slice(0, 1))];
  }
}

/** `left` follows the count of lines that do not fit. */
function cutTo(lines: readonly string[], room: number, left: string): readonly string[] {
  if (lines.length <= room) return lines;
  return [...lines.slice(0, room - 1), `... and ${lines.length - room + 1} more${left}`];
}

/** Codes of colors take no room. */
const colorCodes = new RegExp(`(${String.fromCharCode(27)}\\[[0-9;]*m)`);

/** A line as lines of at most that width. */
function wrapLine(line: string, width: number): readonly string[] {
  const lines = [''];
  let left = width;
  for (const [index, part] of line.split(colorCodes).entries()) {
    const isCode = index % 2 === 1;
    for (let rest = part; rest !== ''; ) {
      if (left === 0 && !isCode) {
        lines.push('');
        left = width;
      }
      const shown = isCode ? rest : rest.slice(0, left);
      lines[lines.length - 1] += shown;
      if (!isCode) left -= shown.length;
      rest = rest.slice(shown.length);
    }
  }
  return lines;
}
