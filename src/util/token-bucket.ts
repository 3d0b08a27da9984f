import type { Clock } from './clock.ts';

interface TokenBucketOptions {
  readonly clock: Clock;
  /** Maximum number of tokens. */
  readonly burst: number;
  /** Time to earn one token, in ms. */
  readonly refillMs: number;
  /** @default full */
  readonly initial?: number;
}

/** A token bucket: tokens are earned continuously, up to a maximum. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #tokens: number;
  /** Monotonic time at which the tokens were counted. */
  #countedAtMs: number;

  constructor(options: TokenBucketOptions) {
    const { clock, burst, initial = burst } = options;
    this.#options = options;
    this.#tokens = initial;
    this.#countedAtMs = clock.monotonicMs();
  }

  /** Tokens now, with fractions; negative after {@link take} without a token. */
  get tokens(): number {
    const { clock, burst, refillMs } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#tokens = Math.min(burst, this.#tokens + (nowMs - this.#countedAtMs) / refillMs);
    this.#countedAtMs = nowMs;
    return this.#tokens;
  }

  /** Takes tokens, also if there are none. */
  take(count = 1): void {
    this.#tokens = this.tokens - count;
  }

  /** Returns a token. */
  give(): void {
    this.#tokens = Math.min(this.#options.burst, this.tokens + 1);
  }

  /** Time until there is a token, in ms, rounded up: timers do not wait for fractions. 0: there is one. */
  get delayMs(): number {
    return Math.ceil(Math.max(0, 1 - this.tokens) * this.#options.refillMs);
  }
}
