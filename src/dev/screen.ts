/** Output of a terminal. */
export interface Terminal {
  write(text: string): void;
  /** Present size of the window. */
  readonly columns: number;
  readonly rows: number;
}

/** Lines of text above, and below them an area that is drawn again whenever it changes. */
export class Screen {
  readonly #terminal: Terminal;
  readonly #howToSeeAll: string;
  #area: readonly string[] = [];
  /** Number of lines of the area that are drawn. */
  #drawn = 0;

  /** @param howToSeeAll follows the count of lines that do not fit. */
  constructor(terminal: Terminal, howToSeeAll = '') {
    this.#terminal = terminal;
    this.#howToSeeAll = howToSeeAll;
  }

  /** Prints lines above the area. */
  print(text: string): void {
    this.#draw(`${text}\n`);
  }

  /** Replaces the area. */
  show(lines: readonly string[]): void {
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
    const area = this.#area;
    const room = Math.max(1, rows - 2);
    const left = `... and ${area.length - room + 1} more${this.#howToSeeAll}`;
    const shown = area.length <= room ? area : [...area.slice(0, room - 1), left];
    return shown.map((line) => (line.length < columns ? line : line.slice(0, columns - 1)));
  }
}
