import type { PassToken } from '../roles.ts';
import type { Delivery, EventFeed } from './event-feed.ts';
import { InFlight } from './removals.ts';

interface Held {
  delivery: Delivery;
  /** The event waits for the requests on its key with numbers up to this one. */
  readonly since: number;
}

/**
 * Watch events that arrive before the response to the write that caused them: every second one on a nearby server.
 * While a request on a key is in flight, its watch events are stored but delivered after the response, which
 * identifies the write. Order per key is kept.
 */
export class HeldEvents {
  readonly #feed: EventFeed;
  readonly #inFlight = new InFlight();
  readonly #held = new Map<string, Held[]>();

  constructor(feed: EventFeed) {
    this.#feed = feed;
  }

  /** A request starts; events of the key are held. Returns its number for {@link end}. */
  begin(key: string): number {
    return this.#inFlight.begin(key);
  }

  /** Whether events of the key are held for the request with this number. */
  isHeldBy(key: string, number: number): boolean {
    return this.#inFlight.has(key, number);
  }

  /** The request has ended or timed out. */
  end(key: string, number: number): void {
    this.#inFlight.end(key, number);
    const held = this.#held.get(key);
    if (held === undefined) return;
    const waiting = held.findIndex(({ since }) => this.#inFlight.hasSince(key, since));
    const ready = waiting < 0 ? held : held.slice(0, waiting);
    if (waiting < 0) this.#held.delete(key);
    else this.#held.set(key, held.slice(waiting));
    for (const { delivery } of ready) this.#feed.deliver(delivery);
  }

  /** Delivers a change now, or after the requests in flight if `mayWait`. */
  deliver(key: string, delivery: Delivery, mayWait: boolean): void {
    const since = mayWait ? this.#inFlight.last : 0;
    const held = this.#held.get(key);
    if (held !== undefined) held.push({ delivery, since });
    else if (this.#inFlight.hasSince(key, since)) this.#held.set(key, [{ delivery, since }]);
    else this.#feed.deliver(delivery);
  }

  /** Marks the held event of this version as caused by `pass`. */
  attribute(key: string, version: string, pass: PassToken | undefined): void {
    if (pass === undefined) return;
    for (const held of this.#held.get(key) ?? []) {
      const { event } = held.delivery;
      const isSameChange = event.current?.object.metadata.resourceVersion === version;
      if (isSameChange && event.pass === undefined) {
        held.delivery = { ...held.delivery, event: { ...event, pass } };
      }
    }
  }
}
