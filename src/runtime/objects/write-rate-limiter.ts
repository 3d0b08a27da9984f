import type { Clock } from '../../util/clock.ts';

export interface WriteLimits {
  /** Number of writes in a burst. */
  readonly burst: number;
  /** Time per write after the burst, in ms. */
  readonly refillMs: number;
}

interface Bucket {
  /** Remaining writes at `atMs`. */
  readonly remaining: number;
  readonly atMs: number;
}

/** Limits the write rate of each object. */
export class WriteRateLimiter {
  readonly #clock: Clock;
  readonly #limits: WriteLimits;
  /** By object; times are monotonic. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, limits: WriteLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Delay of the next write, in ms; 0: allowed now. `restMs`: minimum time since the last write. */
  delayOf(name: string, restMs = 0): number {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) return 0;
    const refilledMs = Math.max(0, 1 - this.#remainingNow(bucket)) * this.#limits.refillMs;
    const restedMs = bucket.atMs + restMs - this.#clock.monotonicMs();
    // Whole ms: timers cannot wait for less.
    return Math.ceil(Math.max(0, refilledMs, restedMs));
  }

  recordWrite(name: string): void {
    const bucket = this.#buckets.get(name);
    const remaining = bucket === undefined ? this.#limits.burst : this.#remainingNow(bucket);
    this.#buckets.set(name, { remaining: remaining - 1, atMs: this.#clock.monotonicMs() });
  }

  forget(name: string): void {
    this.#buckets.delete(name);
  }

  #remainingNow({ remaining, atMs }: Bucket): number {
    const { burst, refillMs } = this.#limits;
    return Math.min(burst, remaining + (this.#clock.monotonicMs() - atMs) / refillMs);
  }
}
