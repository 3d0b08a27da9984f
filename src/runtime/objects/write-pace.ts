import type { Clock } from '../../util/clock.ts';

export interface PaceLimits {
  /** So many writes of one object at once ... */
  readonly burst: number;
  /** ... and then one in so long, in ms. */
  readonly refillMs: number;
}

interface Bucket {
  /** Writes that are left, as of then. */
  readonly left: number;
  readonly atMs: number;
}

/** How often one object is written. */
export class WritePace {
  readonly #clock: Clock;
  readonly #limits: PaceLimits;
  /** Of objects that were written. Monotonic. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, limits: PaceLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** How long the next write has to wait, in ms; 0: not at all. `restMs`: at least so long after the last one. */
  delayOf(name: string, restMs = 0): number {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) return 0;
    const refilledMs = Math.max(0, 1 - this.#leftNow(bucket)) * this.#limits.refillMs;
    const restedMs = bucket.atMs + restMs - this.#clock.monotonicMs();
    return Math.max(0, refilledMs, restedMs);
  }

  written(name: string): void {
    const bucket = this.#buckets.get(name);
    const left = bucket === undefined ? this.#limits.burst : this.#leftNow(bucket);
    this.#buckets.set(name, { left: left - 1, atMs: this.#clock.monotonicMs() });
  }

  forget(name: string): void {
    this.#buckets.delete(name);
  }

  #leftNow({ left, atMs }: Bucket): number {
    const { burst, refillMs } = this.#limits;
    return Math.min(burst, left + (this.#clock.monotonicMs() - atMs) / refillMs);
  }
}
