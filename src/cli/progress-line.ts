/** Work that is done sooner shows no progress, in ms. */
const delayMs = 300;
/** The least time between two changes of the line, in ms. */
const intervalMs = 50;

interface ProgressLineOptions {
  readonly stream: {
    write(text: string): unknown;
    /** Width of the terminal; a longer text is cut. */
    readonly columns?: number;
  };
  readonly nowMs: () => number;
}

/** One line at the bottom of a terminal that shows how far a command is. Other output erases it; the next progress draws it again. */
export class ProgressLine {
  readonly #options: ProgressLineOptions;
  #sinceMs: number | undefined;
  #drawnMs = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(options: ProgressLineOptions) {
    this.#options = options;
  }

  /** Draws the text if it is time to. */
  show(text: string): void {
    const { stream, nowMs } = this.#options;
    const now = nowMs();
    this.#sinceMs ??= now;
    if (now - this.#sinceMs < delayMs || now - this.#drawnMs < intervalMs) return;
    // Some terminals report no width.
    const columns = stream.columns || 80;
    stream.write(`\r\u001b[2K${text.slice(0, columns - 1)}`);
    this.#drawnMs = now;
    this.#isDrawn = true;
  }

  erase(): void {
    if (!this.#isDrawn) return;
    this.#options.stream.write('\r\u001b[2K');
    this.#isDrawn = false;
    // What follows the output may be shown at once.
    this.#drawnMs = Number.NEGATIVE_INFINITY;
  }
}
