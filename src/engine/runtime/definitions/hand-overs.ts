import type { Clock } from '#util/clock.ts';

/** How long an object of another runtime is not touched after its label is removed: that runtime may still be running. */
const handOverMs = 30_000;

/** Objects that another runtime has given up. */
export class HandOvers {
  readonly #clock: Clock;
  /** By name: monotonic time at which another runtime's label was removed; undefined: it still has the label. */
  readonly #since = new Map<string, number | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long to wait before using an object, in ms. `isOfOther`: another runtime has it now. */
  waitMs(name: string, isOfOther: boolean): number {
    if (isOfOther) {
      this.#since.set(name, undefined);
      return 0;
    }
    if (!this.#since.has(name)) return 0;
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = this.#since.get(name) ?? nowMs;
    this.#since.set(name, sinceMs);
    const leftMs = sinceMs + handOverMs - nowMs;
    if (leftMs <= 0) this.#since.delete(name);
    return Math.max(0, leftMs);
  }

  /** Call when the object is deleted. */
  forget(name: string): void {
    this.#since.delete(name);
  }
}
