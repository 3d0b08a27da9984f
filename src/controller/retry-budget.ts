import type { Clock } from '../util/clock.ts';

export interface RetryBudgetOptions {
  readonly clock: Clock;
  /** Retries per second in the long run. */
  readonly perSecond: number;
  /** Token bucket size. After an idle time the first `atOnce` retries run at once, the others `spacingMs` apart. */
  readonly burst: number;
  /** @default all of the burst */
  readonly atOnce?: number;
  /** Minimum interval between two retries, in ms. @default 0 */
  readonly spacingMs?: number;
  /** Called when a key may run, at once or later. `isLate`: the key was held and is not fresh. */
  readonly onRelease: (key: string, isLate: boolean) => void;
}

/**
 * Limits the retries of all failing keys of one controller, so that their cost to other keys is bounded. A token
 * bucket with spread bursts. Held keys are released in order of arrival, recently failed keys first: many permanent
 * failures do not delay a key that met a conflict. A successful retry returns its token and releases the next key at
 * once, so that keys recover quickly after an outage.
 */
export class RetryBudget {
  readonly #options: RetryBudgetOptions;
  /** Held keys in order of arrival: recently failed keys, and the others. */
  readonly #fresh = new Set<string>();
  readonly #older = new Set<string>();
  #tokens: number;
  #countedAtMs: number;
  /** Earliest time of the next retry by `spacingMs`. */
  #nextAtMs: number;
  #cancelTimer: (() => void) | undefined;

  constructor(options: RetryBudgetOptions) {
    this.#options = options;
    this.#tokens = options.burst;
    this.#countedAtMs = options.clock.monotonicMs();
    this.#nextAtMs = this.#countedAtMs;
  }

  /** Number of keys that wait for a token. */
  get held(): number {
    return this.#fresh.size + this.#older.size;
  }

  /** Releases the key at once, or holds it until a token is available. `isFresh`: released before keys that failed often. */
  request(key: string, isFresh = false): void {
    this.#refill();
    if (this.held === 0 && this.#mayRelease()) {
      this.#release(key, false);
      return;
    }
    (isFresh ? this.#fresh : this.#older).add(key);
    this.#schedule();
  }

  /** Removes a held key: it runs for another reason, or not at all. */
  remove(key: string): void {
    this.#fresh.delete(key);
    this.#older.delete(key);
    if (this.held === 0) this.#stopTimer();
  }

  /** Returns the token of a released key that succeeded. */
  returnToken(): void {
    this.#refill();
    this.#tokens = Math.min(this.#options.burst, this.#tokens + 1);
    this.#nextAtMs = this.#countedAtMs;
    this.#releaseHeld();
  }

  #mayRelease(): boolean {
    const { burst, atOnce = burst } = this.#options;
    if (this.#tokens < 1) return false;
    return this.#tokens > burst - atOnce || this.#countedAtMs >= this.#nextAtMs;
  }

  #release(key: string, isLate: boolean): void {
    const { onRelease, spacingMs = 0 } = this.#options;
    this.#tokens -= 1;
    this.#nextAtMs = this.#countedAtMs + spacingMs;
    onRelease(key, isLate);
  }

  #refill(): void {
    const { clock, perSecond, burst } = this.#options;
    const nowMs = clock.monotonicMs();
    const earned = ((nowMs - this.#countedAtMs) * perSecond) / 1_000;
    this.#tokens = Math.min(burst, this.#tokens + earned);
    this.#countedAtMs = nowMs;
  }

  #releaseHeld(): void {
    for (const line of [this.#fresh, this.#older]) {
      for (const key of line) {
        if (!this.#mayRelease()) break;
        line.delete(key);
        this.#release(key, line === this.#older);
      }
    }
    if (this.held === 0) this.#stopTimer();
    else this.#schedule();
  }

  #schedule(): void {
    if (this.#cancelTimer !== undefined) return;
    const { clock, perSecond } = this.#options;
    // Rounded up: a timer that fires a hair too early would find nothing and be set again.
    const tokenMs = Math.ceil(((1 - this.#tokens) * 1_000) / perSecond);
    const delayMs = Math.max(1, tokenMs, Math.ceil(this.#nextAtMs - this.#countedAtMs));
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
