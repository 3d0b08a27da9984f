import type { Clock } from '../util/clock.ts';

/** Counts (of resources, of what waits) are told of at most so often. */
const countsMs = 1_000;

/** Tells those who mirror views that some view may have changed: soon, and once for many changes. */
export class ViewBell {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #isRinging = false;
  #cancelLater: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the unsubscribe function. */
  onRing(listener: () => void): () => void {
    // Wrapped: the same function may be given twice.
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** Something that people wait for has changed. */
  ring(): void {
    if (this.#isRinging || this.#listeners.size === 0) return;
    this.#isRinging = true;
    queueMicrotask(() => {
      this.#isRinging = false;
      for (const listener of this.#listeners) listener();
    });
  }

  /** Something has changed that changes all the time. */
  ringLater(): void {
    if (this.#cancelLater !== undefined || this.#listeners.size === 0) return;
    this.#cancelLater = this.#clock.after(countsMs, () => {
      this.#cancelLater = undefined;
      this.ring();
    });
  }

  /** No ringing later. */
  stop(): void {
    this.#cancelLater?.();
    this.#cancelLater = undefined;
  }
}
