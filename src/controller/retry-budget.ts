import type { Clock } from '../util/clock.ts';

export interface RetryBudgetOptions {
  readonly clock: Clock;
  /** Retries per second in the long run. */
  readonly perSecond: number;
  /** Retries at once after a quiet time. */
  readonly burst: number;
  /** Called when a key may go: at once within {@link RetryBudget.ask}, or later for one that was held. */
  readonly onRelease: (key: string, wasHeld: boolean) => void;
}

/**
 * How often the troubled keys of one controller may be tried, all together: however many resources fail or do not come to
 * rest, what they cost the others is bounded. A token bucket; keys without a token are held in order of arrival. A retry that
 * goes well gives its token back, so that trouble which is over is worked off at full speed.
 */
export class RetryBudget {
  readonly #options: RetryBudgetOptions;
  readonly #held = new Set<string>();
  #tokens: number;
  #countedAtMs: number;
  #cancelTimer: (() => void) | undefined;

  constructor(options: RetryBudgetOptions) {
    this.#options = options;
    this.#tokens = options.burst;
    this.#countedAtMs = options.clock.monotonicMs();
  }

  /** Keys that wait for a token. */
  get held(): number {
    return this.#held.size;
  }

  /** Releases the key at once, or holds it until there is a token. */
  ask(key: string): void {
    this.#refill();
    if (this.#held.size > 0 || this.#tokens < 1) {
      this.#held.add(key);
      this.#schedule();
      return;
    }
    this.#tokens -= 1;
    this.#options.onRelease(key, false);
  }

  /** A held key needs no token any more: it runs for another reason, or not at all. */
  leave(key: string): void {
    this.#held.delete(key);
    if (this.#held.size === 0) this.#stopTimer();
  }

  /** A released key went well. */
  giveBack(): void {
    this.#refill();
    this.#tokens = Math.min(this.#options.burst, this.#tokens + 1);
    this.#releaseHeld();
  }

  /** Starts over: nothing held, all tokens there. */
  reset(): void {
    this.#stopTimer();
    this.#held.clear();
    this.#tokens = this.#options.burst;
    this.#countedAtMs = this.#options.clock.monotonicMs();
  }

  #refill(): void {
    const { clock, perSecond, burst } = this.#options;
    const nowMs = clock.monotonicMs();
    const earned = ((nowMs - this.#countedAtMs) * perSecond) / 1_000;
    this.#tokens = Math.min(burst, this.#tokens + earned);
    this.#countedAtMs = nowMs;
  }

  #releaseHeld(): void {
    for (const key of this.#held) {
      if (this.#tokens < 1) break;
      this.#tokens -= 1;
      this.#held.delete(key);
      this.#options.onRelease(key, true);
    }
    if (this.#held.size === 0) this.#stopTimer();
    else this.#schedule();
  }

  #schedule(): void {
    if (this.#cancelTimer !== undefined) return;
    const { clock, perSecond } = this.#options;
    // Rounded up: a timer that fires a hair too early would find nothing and be set again.
    const delayMs = Math.max(1, Math.ceil(((1 - this.#tokens) * 1_000) / perSecond));
    this.#cancelTimer = clock.after(delayMs, () => {
      this.#cancelTimer = undefined;
      this.#refill();
      this.#releaseHeld();
    });
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
