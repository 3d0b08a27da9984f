import type { Clock } from '#util/clock.ts';
import { TokenBucket } from '#util/token-bucket.ts';

/** A rate of bytes, and who is notified about it. */
export interface ReadRate {
  /** That may be read at once. */
  readonly burst: number;
  readonly perSecond: number;
  /** Called with the time in which reading has waited, in s. @default no action */
  readonly onWaited?: (seconds: number) => void;
  /** Called when the server has sent more than the rate for a minute, and when it has not for some minutes. @default no action */
  readonly onThrottled?: (isThrottled: boolean) => void;
}

/** Reading that waits for so long, with gaps, is reported. */
const reportAfterMs = 60_000;
/** A longer time without waiting is no gap. */
const gapMs = 10_000;
/** Without waiting for this time, it is over. Longer than the other times, so that a changing load does not report again and again. */
const clearAfterMs = 300_000;

/** Limits how much of one server is read, and notes when it sends more for long. Call {@link stop} after use. */
export class ReadThrottle {
  readonly #rate: ReadRate;
  readonly #clock: Clock;
  readonly #bucket: TokenBucket;
  /** How many responses and watches wait. */
  #waiting = 0;
  /** Monotonic time since which some wait. */
  #waitingSinceMs = 0;
  /** Monotonic time at which the last one has waited. */
  #lastWaitMs = Number.NEGATIVE_INFINITY;
  /** Monotonic time since which reading waits, with gaps. */
  #throttledSinceMs = 0;
  #isThrottled = false;
  #cancelClear: (() => void) | undefined;

  constructor(rate: ReadRate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    const { burst, perSecond } = rate;
    this.#bucket = new TokenBucket({ clock, burst, refillMs: 1_000 / perSecond });
  }

  /** Counts what was read. */
  take(length: number): void {
    this.#bucket.take(length);
  }

  /** Resolves when more may be read. @throws the reason of the signal */
  async untilReadable(signal: AbortSignal): Promise<void> {
    if (this.#bucket.delayMs === 0) return;
    this.#begin();
    try {
      for (let ms = this.#bucket.delayMs; ms > 0; ms = this.#bucket.delayMs)
        await this.#clock.sleep(ms, signal);
    } finally {
      this.#end();
    }
  }

  stop(): void {
    this.#cancelClear?.();
    this.#cancelClear = undefined;
  }

  #begin(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#waiting += 1;
    if (this.#waiting > 1) return;
    this.#waitingSinceMs = nowMs;
    if (nowMs - this.#lastWaitMs > gapMs) this.#throttledSinceMs = nowMs;
  }

  #end(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#lastWaitMs = nowMs;
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#rate.onWaited?.((nowMs - this.#waitingSinceMs) / 1_000);
    if (this.#isThrottled || nowMs - this.#throttledSinceMs < reportAfterMs) return;
    this.#setThrottled(true);
    this.#clearAfter(clearAfterMs);
  }

  #clearAfter(ms: number): void {
    this.#cancelClear = this.#clock.after(ms, () => {
      const nowMs = this.#clock.monotonicMs();
      const leftMs = this.#waiting > 0 ? clearAfterMs : this.#lastWaitMs + clearAfterMs - nowMs;
      if (leftMs > 0) return this.#clearAfter(leftMs);
      this.#cancelClear = undefined;
      this.#setThrottled(false);
    });
  }

  #setThrottled(isThrottled: boolean): void {
    this.#isThrottled = isThrottled;
    this.#rate.onThrottled?.(isThrottled);
  }
}
