import type { Clock } from '../util/clock.ts';

export interface RetryBudgetOptions {
  readonly clock: Clock;
  /** Retries per second in the long run. */
  readonly perSecond: number;
  /** Retries that may follow each other after a quiet time: the first `atOnce` at once, the others `spacingMs` apart. */
  readonly burst: number;
  /** @default all of the burst */
  readonly atOnce?: number;
  /** Between two retries at least, in ms. @default 0 */
  readonly spacingMs?: number;
  /** Called when a key may go: at once within {@link RetryBudget.ask}, or later. `isLate`: it was held, and not fresh. */
  readonly onRelease: (key: string, isLate: boolean) => void;
}

/**
 * How often the troubled keys of one controller may be tried, all together: however many resources fail or do not come to
 * rest, what they cost the others is bounded. A token bucket whose bursts are spread a little. Keys that must wait are held in
 * order of arrival, those that have just begun to fail before the others: many that fail for ever do not hold up one that met a
 * conflict. A retry that goes well gives its token back and lets the next one go at once, so that trouble which is over is
 * worked off at full speed.
 */
export class RetryBudget {
  readonly #options: RetryBudgetOptions;
  /** In order of arrival: those who have just begun to fail, and the others. */
  readonly #fresh = new Set<string>();
  readonly #patient = new Set<string>();
  #tokens: number;
  #countedAtMs: number;
  /** When the next retry may go, as far as the spacing is concerned. */
  #nextAtMs: number;
  #cancelTimer: (() => void) | undefined;

  constructor(options: RetryBudgetOptions) {
    this.#options = options;
    this.#tokens = options.burst;
    this.#countedAtMs = options.clock.monotonicMs();
    this.#nextAtMs = this.#countedAtMs;
  }

  /** Keys that wait for a token. */
  get held(): number {
    return this.#fresh.size + this.#patient.size;
  }

  /** Releases the key at once, or holds it until there is a token. `isFresh`: goes before those who have failed often. */
  ask(key: string, isFresh = false): void {
    this.#refill();
    if (this.held === 0 && this.#mayRelease()) {
      this.#release(key, false);
      return;
    }
    (isFresh ? this.#fresh : this.#patient).add(key);
    this.#schedule();
  }

  /** A held key needs no token any more: it runs for another reason, or not at all. */
  leave(key: string): void {
    this.#fresh.delete(key);
    this.#patient.delete(key);
    if (this.held === 0) this.#stopTimer();
  }

  /** A released key went well. */
  giveBack(): void {
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
    for (const line of [this.#fresh, this.#patient]) {
      for (const key of line) {
        if (!this.#mayRelease()) break;
        line.delete(key);
        this.#release(key, line === this.#patient);
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
