/** A terminal, or a file or pipe in its place. */
export interface Terminal {
  write(text: string): void;
  /** Of the window, now. */
  readonly columns: number;
  readonly rows: number;
}

/** Lines of text above, and below them an area that is drawn again whenever it changes. */
export class Screen {
  readonly #terminal: Terminal;
  readonly #howToSeeAll: string;
  #area: readonly string[] = [];
  /** Lines of the area that stand on the terminal. */
  #drawn = 0;

  /** @param howToSeeAll follows the count of lines that do not fit. */
  constructor(terminal: Terminal, howToSeeAll = '') {
    this.#terminal = terminal;
    this.#howToSeeAll = howToSeeAll;
  }

  /** A line, or several, that stay. */
  print(text: string): void {
    this.#draw(`${text}\n`);
  }

  /** What the area shows from now on. */
  show(lines: readonly string[]): void {
    if (lines.length === this.#area.length && lines.every((line, at) => line === this.#area[at]))
      return;
    this.#area = lines;
    this.#draw('');
  }

  #draw(above: string): void {
    const lines = this.#fitting();
    // Up to the first line of the area, and away with all below.
    const back = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\r\u001b[J`;
    this.#drawn = lines.length;
    this.#terminal.write(back + above + lines.map((line) => `${line}\n`).join(''));
  }

  /** A line that wraps, or an area that scrolls, could not be found again. */
  #fitting(): readonly string[] {
    const { columns, rows } = this.#terminal;
    const area = this.#area;
    const room = Math.max(1, rows - 2);
    const left = `... and ${area.length - room + 1} more${this.#howToSeeAll}`;
    const shown = area.length <= room ? area : [...area.slice(0, room - 1), left];
    return shown.map((line) => (line.length < columns ? line : line.slice(0, columns - 1)));
  }
}
