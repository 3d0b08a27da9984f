import type { Clock } from '#util/clock.ts';
import { TokenBucket } from '#util/token-bucket.ts';

export interface WriteLimits {
  /** Number of writes in a burst. */
  readonly burst: number;
  /** Time per write after the burst, in ms. */
  readonly refillMs: number;
}

interface Writes {
  readonly bucket: TokenBucket;
  /** Monotonic time of the last write. */
  readonly lastMs: number;
}

/** Limits the write rate of each object. */
export class WriteRateLimiter {
  readonly #clock: Clock;
  readonly #limits: WriteLimits;
  /** By object. */
  readonly #writes = new Map<string, Writes>();

  constructor(clock: Clock, limits: WriteLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Delay of the next write, in ms; 0: allowed now. `restMs`: minimum time since the last write. */
  delayOf(name: string, restMs = 0): number {
    const writes = this.#writes.get(name);
    if (writes === undefined) return 0;
    const restedMs = writes.lastMs + restMs - this.#clock.monotonicMs();
    return Math.max(writes.bucket.delayMs, Math.ceil(restedMs));
  }

  recordWrite(name: string): void {
    const bucket =
      this.#writes.get(name)?.bucket ?? new TokenBucket({ clock: this.#clock, ...this.#limits });
    bucket.take();
    this.#writes.set(name, { bucket, lastMs: this.#clock.monotonicMs() });
  }

  forget(name: string): void {
    this.#writes.delete(name);
  }
}
