import { anySignal } from './any-signal.ts';
import type { Clock } from './clock.ts';

/** Resolves after `ms`, or when the signal aborts. Never rejects. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return clock.sleep(ms, signal).catch(() => {});
}

/** Ends a pause early. A call of {@link wake} outside of a pause ends the next one at once. One pause at a time. */
export class Waker {
  readonly #clock: Clock;
  #isAwake = false;
  #endPause: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(): void {
    this.#isAwake = true;
    this.#endPause?.();
  }

  /** Resolves with true after {@link wake}, with false after `ms` or when the signal aborts. */
  async pause(ms: number, signal: AbortSignal): Promise<boolean> {
    if (!this.#isAwake && !signal.aborted) {
      const woken = new AbortController();
      this.#endPause = () => woken.abort();
      await pause(this.#clock, ms, anySignal([signal, woken.signal]));
      this.#endPause = undefined;
    }
    const wasAwake = this.#isAwake;
    this.#isAwake = false;
    return wasAwake;
  }
}
