import { RecentMap } from './recent-map.ts';

export interface BurstLimitOptions {
  /** So many at once. */
  readonly burst: number;
  /** And then one in each such time. */
  readonly refillMs: number;
  /** Keys remembered; a forgotten one starts anew. */
  readonly maxKeys: number;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** A token bucket for each key. */
export class BurstLimit {
  readonly #options: BurstLimitOptions;
  readonly #buckets: RecentMap<string, Bucket>;

  constructor(options: BurstLimitOptions) {
    this.#options = options;
    this.#buckets = new RecentMap(options.maxKeys);
  }

  /** Takes a token; false when there is none. */
  allows(key: string, nowMs: number): boolean {
    const { burst, refillMs } = this.#options;
    const bucket = this.#buckets.get(key) ?? { tokens: burst, filledAtMs: nowMs };
    const gained = Math.floor((nowMs - bucket.filledAtMs) / refillMs);
    if (gained > 0) {
      bucket.tokens = Math.min(burst, bucket.tokens + gained);
      bucket.filledAtMs += gained * refillMs;
    }
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}
