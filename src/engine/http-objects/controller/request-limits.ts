import type { Clock } from '#util/clock.ts';
import { TokenBucket } from '#util/token-bucket.ts';

/** Concurrent requests to one origin, over all endpoints. */
export const maxPerOrigin = 20;

/** A place for a request; the function gives it back. */
export type Release = () => void;

/** A number of places, given in the order of requests. */
export class Places {
  readonly #size: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** @throws the reason of the signal */
  async acquire(signal: AbortSignal): Promise<Release> {
    signal.throwIfAborted();
    if (this.#taken >= this.#size) await this.#wait(signal);
    else this.#taken += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken -= 1;
      else next();
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal.reason);
      };
      this.#waiting.push(begin);
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}

interface RequestLimitsOptions {
  readonly clock: Clock;
  readonly requestsPerSecond: number;
  readonly concurrent: number;
  /** Shared by the endpoints of one origin. */
  readonly origin: Places;
}

/** The limits of one endpoint. */
export class RequestLimits {
  readonly #clock: Clock;
  readonly #bucket: TokenBucket;
  readonly #own: Places;
  readonly #origin: Places;

  constructor({ clock, requestsPerSecond, concurrent, origin }: RequestLimitsOptions) {
    this.#clock = clock;
    const burst = Math.max(1, Math.ceil(requestsPerSecond));
    this.#bucket = new TokenBucket({ clock, burst, refillMs: 1000 / requestsPerSecond });
    this.#own = new Places(concurrent);
    this.#origin = origin;
  }

  /** Resolves when a request may be sent. Call the result when it has ended. @throws the reason of the signal */
  async acquire(signal: AbortSignal): Promise<Release> {
    const releaseOwn = await this.#own.acquire(signal);
    try {
      const { delayMs } = this.#bucket;
      this.#bucket.take();
      if (delayMs > 0) await this.#clock.sleep(delayMs, signal);
      const releaseOrigin = await this.#origin.acquire(signal);
      return () => {
        releaseOrigin();
        releaseOwn();
      };
    } catch (error) {
      releaseOwn();
      throw error;
    }
  }
}

/** The places of origins. */
export class OriginPlaces {
  readonly #places = new Map<string, Places>();

  of(origin: string): Places {
    const known = this.#places.get(origin) ?? new Places(maxPerOrigin);
    this.#places.set(origin, known);
    return known;
  }

  /** Forgets origins that no endpoint has. */
  keepOnly(origins: ReadonlySet<string>): void {
    for (const origin of this.#places.keys()) if (!origins.has(origin)) this.#places.delete(origin);
  }
}
