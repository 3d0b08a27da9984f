import type { Clock } from '#util/clock.ts';
import { TokenBucket } from '#util/token-bucket.ts';

interface RetryBudgetOptions {
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
  readonly #bucket: TokenBucket;
  /** Earliest time of the next retry by `spacingMs`. */
  #nextAtMs: number;
  #cancelTimer: (() => void) | undefined;

  constructor(options: RetryBudgetOptions) {
    const { clock, burst, perSecond } = options;
    this.#options = options;
    this.#bucket = new TokenBucket({ clock, burst, refillMs: 1_000 / perSecond });
    this.#nextAtMs = clock.monotonicMs();
  }

  /** Number of keys that wait for a token. */
  get held(): number {
    return this.#fresh.size + this.#older.size;
  }

  /** Releases the key at once, or holds it until a token is available. `isFresh`: released before keys that failed often. */
  request(key: string, isFresh = false): void {
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
    this.#bucket.give();
    this.#nextAtMs = this.#options.clock.monotonicMs();
    this.#releaseHeld();
  }

  #mayRelease(): boolean {
    const { clock, burst, atOnce = burst } = this.#options;
    const { tokens } = this.#bucket;
    if (tokens < 1) return false;
    return tokens > burst - atOnce || clock.monotonicMs() >= this.#nextAtMs;
  }

  #release(key: string, isLate: boolean): void {
    const { clock, onRelease, spacingMs = 0 } = this.#options;
    this.#bucket.take();
    this.#nextAtMs = clock.monotonicMs() + spacingMs;
    onRelease(key, isLate);
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
    const { clock } = this.#options;
    const spacedMs = Math.ceil(this.#nextAtMs - clock.monotonicMs());
    const delayMs = Math.max(1, this.#bucket.delayMs, spacedMs);
    this.#cancelTimer = clock.after(delayMs, () => {
      this.#cancelTimer = undefined;
      this.#releaseHeld();
    });
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
