import { backoffMs } from '../../util/backoff.ts';
import type { Clock } from '../../util/clock.ts';
import type { Random } from '../../util/random.ts';
import type { ResolvedInformerSettings } from './informer-settings.ts';

export interface RetryDelayOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: ResolvedInformerSettings;
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

  /** Counts a failure. Returns the wait in ms. */
  next(): number {
    const { clock, random, settings } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#quietSinceMs >= settings.forgetFailuresAfterMs) this.#failures = 0;
    const delayMs = backoffMs(this.#failures, settings) * (1 + random.fraction());
    this.#failures += 1;
    this.#quietSinceMs = nowMs + delayMs;
    return delayMs;
  }
}
