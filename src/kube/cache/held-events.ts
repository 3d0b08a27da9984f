import type { PassToken } from '../roles.ts';
import type { Delivery, EventFeed } from './event-feed.ts';
import { InFlight } from './in-flight.ts';

interface Held {
  delivery: Delivery;
  /** It waits for the requests on its key that had begun by then. */
  readonly since: number;
}

/**
 * Events of a watch that overtake the answer of the write that caused them: every other one does, on a near server. While
 * a request on a key is under way, what the watch tells of the key is stored, but told only when the answer has said
 * whose write it was. Per key the order stays.
 */
export class HeldEvents {
  readonly #feed: EventFeed;
  readonly #inFlight = new InFlight();
  readonly #held = new Map<string, Held[]>();

  constructor(feed: EventFeed) {
    this.#feed = feed;
  }

  /** A request begins for which events of the key wait. Returns its number, for {@link end}. */
  begin(key: string): number {
    return this.#inFlight.begin(key);
  }

  /** The request is over, or has taken too long to wait for. */
  end(key: string, number: number): void {
    this.#inFlight.end(key, number);
    const held = this.#held.get(key);
    if (held === undefined) return;
    const waiting = held.findIndex(({ since }) => this.#inFlight.hasSince(key, since));
    const told = waiting < 0 ? held : held.slice(0, waiting);
    if (waiting < 0) this.#held.delete(key);
    else this.#held.set(key, held.slice(waiting));
    for (const { delivery } of told) this.#feed.deliver(delivery);
  }

  /** Tells of a change, now or when its time has come. `mayWait`: it may be the work of a request under way. */
  tell(key: string, delivery: Delivery, mayWait: boolean): void {
    const since = mayWait ? this.#inFlight.last : 0;
    const held = this.#held.get(key);
    if (held !== undefined) held.push({ delivery, since });
    else if (this.#inFlight.hasSince(key, since)) this.#held.set(key, [{ delivery, since }]);
    else this.#feed.deliver(delivery);
  }

  /** An answer of this version was the work of `pass`. */
  attribute(key: string, version: string, pass: PassToken | undefined): void {
    if (pass === undefined) return;
    for (const held of this.#held.get(key) ?? []) {
      const { event } = held.delivery;
      const isWork = event.current?.object.metadata.resourceVersion === version;
      if (isWork && event.pass === undefined) {
        held.delivery = { ...held.delivery, event: { ...event, pass } };
      }
    }
  }
}
