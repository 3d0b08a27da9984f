/** A queue of values that one reader iterates. */
export class StreamQueue<Value> implements AsyncIterable<Value> {
  #values: Value[] = [];
  #error: unknown;
  #isEnded = false;
  #wake: () => void = () => undefined;

  push(value: Value): void {
    this.#values.push(value);
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** The reader gets the values that are there, then the error. */
  fail(error: unknown): void {
    this.#error ??= error;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value, void, undefined> {
    for (;;) {
      const values = this.#values;
      this.#values = [];
      yield* values;
      if (this.#values.length > 0) continue;
      if (this.#error !== undefined) throw this.#error;
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
