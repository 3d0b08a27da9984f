/** So many writes in a window are served at once. */
const freeWrites = 32;
const windowMs = 10;

/**
 * How fast watches are written to. Few writes go out at once; where many watchers hear of many changes,
 * what comes within a moment goes out as one: a write to a socket costs as much as a change itself.
 */
export class WritePace {
  readonly #nowMs: () => number;
  #windowStartMs = 0;
  #writes = 0;
  #writesBefore = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Called after each write: how long its stream is to wait before the next, in ms. 0 = until others had their turn. */
  pauseMs(): number {
    const now = this.#nowMs();
    const windows = Math.floor((now - this.#windowStartMs) / windowMs);
    if (windows > 0) {
      this.#writesBefore = windows === 1 ? this.#writes : 0;
      this.#writes = 0;
      this.#windowStartMs += windows * windowMs;
    }
    this.#writes++;
    return Math.max(this.#writes, this.#writesBefore) > freeWrites ? windowMs : 0;
  }
}
