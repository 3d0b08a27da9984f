import type { CacheEvent, StoredObject } from '../roles.ts';

type Listener = (event: CacheEvent) => void;

/** @internal */
interface Subscriber {
  readonly listener: Listener;
  active: boolean;
}

/** A change to deliver to the subscribers at the time of the change. */
export interface Delivery {
  readonly event: CacheEvent;
  /** Subscribers at the time of the change. Later ones got the changed store as initial events. */
  readonly subscribers: readonly Subscriber[];
}

/**
 * Delivers changes to subscribers in order. A change made by a listener is delivered after the current one. An error
 * in one listener does not affect the others.
 */
export class EventFeed {
  readonly #onFault: (error: unknown) => void;
  #subscribers: readonly Subscriber[] = [];
  #waiting: Delivery[] = [];
  #isDelivering = false;

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Adds a subscriber and delivers `present` to it. Returns the unsubscribe function. */
  subscribe(listener: Listener, present: readonly StoredObject[]): () => void {
    const subscriber: Subscriber = { listener, active: true };
    this.#subscribers = [...this.#subscribers, subscriber];
    const outermost = !this.#isDelivering;
    this.#isDelivering = true;
    for (const current of present) this.#deliver(subscriber, firstEvent(current));
    if (outermost) this.#deliverWaiting();
    return () => {
      subscriber.active = false;
      this.#subscribers = this.#subscribers.filter((other) => other !== subscriber);
    };
  }

  /** Captures the subscribers of a change. */
  prepare(event: CacheEvent): Delivery {
    return { event, subscribers: this.#subscribers };
  }

  deliver(delivery: Delivery): void {
    if (delivery.subscribers.length === 0) return;
    this.#waiting.push(delivery);
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    this.#deliverWaiting();
  }

  #deliverWaiting(): void {
    for (let next = 0; next < this.#waiting.length; next += 1) {
      const delivery = this.#waiting[next];
      for (const subscriber of delivery?.subscribers ?? []) {
        if (delivery !== undefined) this.#deliver(subscriber, delivery.event);
      }
    }
    this.#waiting = [];
    this.#isDelivering = false;
  }

  #deliver(subscriber: Subscriber, event: CacheEvent): void {
    if (!subscriber.active) return;
    try {
      subscriber.listener(event);
    } catch (error) {
      this.#onFault(error);
    }
  }
}

function firstEvent(current: StoredObject): CacheEvent {
  const { namespace = '', name } = current.object.metadata;
  return { namespace, name, current, initial: true };
}
