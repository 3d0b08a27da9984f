/**
 * Lets those who wait go on one after the other, one in each turn of the event loop: however many ask at the same time, what else the
 * process does has its turns in between.
 */
export class OnePerTurn {
  readonly #waiting: (() => void)[] = [];

  /** Resolves in a turn of the event loop of its own. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#defer();
    });
  }

  #defer(): void {
    setImmediate(() => {
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#defer();
    });
  }
}
