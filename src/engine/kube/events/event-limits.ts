import type { Logger } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { TokenBucket } from '#util/token-bucket.ts';
import type { AccessRight } from '../kube-error.ts';
import type { EventsDenied } from '../roles.ts';

interface BurstLimitOptions {
  /** Maximum burst. */
  readonly burst: number;
  /** Time to refill one token, in ms. */
  readonly refillMs: number;
  /** Maximum remembered keys. A forgotten key starts with a full bucket. */
  readonly maxKeys: number;
}

/** A token bucket per key. */
export class BurstLimit {
  readonly #clock: Clock;
  readonly #options: BurstLimitOptions;
  readonly #buckets: LruMap<string, TokenBucket>;

  constructor(clock: Clock, options: BurstLimitOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#buckets = new LruMap(options.maxKeys);
  }

  /** Takes a token; false when the bucket is empty. */
  allows(key: string): boolean {
    const bucket =
      this.#buckets.get(key) ?? new TokenBucket({ clock: this.#clock, ...this.#options });
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1) return false;
    bucket.take();
    return true;
  }
}

/** An LRU map with at most `limit` entries. */
export class LruMap<K, V> {
  readonly #limit: number;
  readonly #entries = new Map<K, V>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the value and marks it as used. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  /** Stores a value and returns the evicted entry. */
  set(key: K, value: V): readonly [K, V] | undefined {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return undefined;
    const [oldest] = this.#entries;
    if (oldest === undefined) return undefined;
    this.#entries.delete(oldest[0]);
    return oldest;
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }
}

/** Maximum remembered namespaces. */
const maxNamespaces = 100;
/** Lifetime of a denial: only another Event shows whether it still applies. */
const rememberMs = 600_000;

interface Denial {
  readonly right: AccessRight | undefined;
  /** Monotonic. */
  readonly atMs: number;
}

/** Namespaces in which Events are denied. Logs only the first denial and the end of all denials. */
export class EventDenials {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #denials = new Map<string, Denial>();
  #sinceMs = 0;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Undefined without current denials. */
  get current(): EventsDenied | undefined {
    this.#forgetOld();
    const { size } = this.#denials;
    if (size === 0) return undefined;
    const right = [...this.#denials.values()].find((each) => each.right !== undefined)?.right;
    return { namespaces: size, ...(right === undefined ? {} : { right }) };
  }

  /** An Event was denied because of a missing right. */
  denied(namespace: string, right: AccessRight | undefined): void {
    this.#forgetOld();
    const isFirst = this.#denials.size === 0;
    const nowMs = this.#clock.monotonicMs();
    if (this.#denials.size < maxNamespaces) this.#denials.set(namespace, { right, atMs: nowMs });
    if (!isFirst) return;
    this.#sinceMs = nowMs;
    this.#logger.warn({ namespace, ...right }, 'Events are denied, continuing without them');
  }

  /** The server accepted an Event. */
  accepted(namespace: string): void {
    if (!this.#denials.delete(namespace)) return;
    this.#forgetOld();
    if (this.#denials.size > 0) return;
    const missingForMs = Math.round(this.#clock.monotonicMs() - this.#sinceMs);
    this.#logger.info({ missingForMs }, 'Events are written again');
  }

  /** The right may have been granted without a new Event in the namespace. */
  #forgetOld(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [namespace, { atMs }] of this.#denials)
      if (nowMs - atMs >= rememberMs) this.#denials.delete(namespace);
  }
}
