import { backoffMs } from '../../util/backoff.ts';
import type { Clock } from '../../util/clock.ts';
import type { Random } from '../../util/random.ts';
import type { ResolvedInformerSettings } from './informer-settings.ts';

export interface RetryDelayOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: ResolvedInformerSettings;
}

/** What a wait must be at least, by a server that asked for it say; and at most, unless more was asked for. */
export interface DelayBounds {
  /** @default 0 */
  readonly atLeastMs?: number;
  /** @default Infinity */
  readonly atMostMs?: number;
}

/** How long to wait after a failure: doubling, with jitter of up to 100 %, from the start again after a quiet time. */
export class RetryDelay {
  readonly #options: RetryDelayOptions;
  #failures = 0;
  /** When the last wait ended. */
  #quietSinceMs = 0;

  constructor(options: RetryDelayOptions) {
    this.#options = options;
  }

  /** Failures in a row, the last one included. */
  get failures(): number {
    return this.#failures;
  }

  /** What failed until now has another cause than what fails next: the delays start from the first again. */
  reset(): void {
    this.#failures = 0;
  }

  /** Counts a failure. Returns how many there were in a row, this one included. */
  fail(): number {
    const { clock, settings } = this.#options;
    const quietMs = clock.monotonicMs() - this.#quietSinceMs;
    if (quietMs >= settings.forgetFailuresAfterMs) this.#failures = 0;
    this.#failures += 1;
    return this.#failures;
  }

  /** How long to wait now, in ms. What was asked for within the bounds is no quiet time either. */
  delayMs({ atLeastMs = 0, atMostMs = Infinity }: DelayBounds = {}): number {
    const { clock, random, settings } = this.#options;
    const growingMs = backoffMs(this.#failures - 1, settings) * (1 + random.fraction());
    const delayMs = Math.max(Math.min(growingMs, atMostMs), atLeastMs);
    this.#quietSinceMs = clock.monotonicMs() + delayMs;
    return delayMs;
  }
}
