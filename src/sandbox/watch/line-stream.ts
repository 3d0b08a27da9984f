const done = { done: true, value: undefined } as const;

/** Lines for one reader. The stream ends when the writer ends it or the reader returns it. */
export class LineStream implements AsyncIterable<string>, AsyncIterator<string> {
  readonly #onClose: () => void;
  #lines: string[] = [];
  #backlog = 0;
  #isEnded = false;
  #reader: ((result: IteratorResult<string>) => void) | undefined;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  /** The number of characters that are not read yet. */
  get backlog(): number {
    return this.#backlog;
  }

  write(line: string): void {
    if (this.#isEnded) return;
    this.#lines.push(line);
    this.#backlog += line.length;
    this.#serveReader();
  }

  /** Ends the stream after the remaining lines are read. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#onClose();
    this.#serveReader();
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    return this;
  }

  /** All pending lines as one text, or the next line when there is none. One call at a time. */
  next(): Promise<IteratorResult<string>> {
    return new Promise((resolve) => {
      this.#reader = resolve;
      this.#serveReader();
    });
  }

  /** The reader closes the stream, even while it waits for a line. */
  return(): Promise<IteratorResult<string>> {
    this.#lines = [];
    this.end();
    return Promise.resolve(done);
  }

  #serveReader(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    if (this.#lines.length === 0 && !this.#isEnded) return;
    this.#reader = undefined;
    if (this.#lines.length === 0) {
      reader(done);
      return;
    }
    const value = this.#lines.join('');
    this.#lines = [];
    this.#backlog = 0;
    reader({ done: false, value });
  }
}
