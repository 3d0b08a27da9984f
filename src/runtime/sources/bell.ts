import type { Clock } from '../../util/clock.ts';

/** Wakes one who waits. Rung before anybody waits, it wakes the next one at once. */
export class Bell {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  /** Resolves with true when it is rung, with false after `ms` or when the signal aborts. One at a time. */
  async wait(ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
    if (!this.#isRung && !signal.aborted) {
      const rung = new AbortController();
      this.#wake = () => rung.abort();
      await clock.sleep(ms, AbortSignal.any([signal, rung.signal])).catch(() => {});
      this.#wake = undefined;
    }
    const wasRung = this.#isRung;
    this.#isRung = false;
    return wasRung;
  }
}
