import type { CacheEvent, StoredObject } from '../roles.ts';

type Listener = (event: CacheEvent) => void;

/** @internal */
export interface Subscriber {
  readonly listener: Listener;
  active: boolean;
}

/** A change on its way to those who had subscribed when it happened. */
export interface Delivery {
  readonly event: CacheEvent;
  /** Who had subscribed when the change happened: a later subscriber got the changed store as its first events. */
  readonly subscribers: readonly Subscriber[];
}

/**
 * Tells subscribers of changes, in the order in which these happened. A change made by a listener waits until all have
 * heard of the one before; a listener that throws does not keep the others from hearing.
 */
export class EventFeed {
  readonly #onFault: (error: unknown) => void;
  #subscribers: readonly Subscriber[] = [];
  #waiting: Delivery[] = [];
  #telling = false;

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Adds a subscriber, which first hears of `present`. Returns the unsubscribe function. */
  subscribe(listener: Listener, present: readonly StoredObject[]): () => void {
    const subscriber: Subscriber = { listener, active: true };
    this.#subscribers = [...this.#subscribers, subscriber];
    const outermost = !this.#telling;
    this.#telling = true;
    for (const current of present) this.#deliver(subscriber, firstEvent(current));
    if (outermost) this.#tellWaiting();
    return () => {
      subscriber.active = false;
      this.#subscribers = this.#subscribers.filter((other) => other !== subscriber);
    };
  }

  /** A change has just happened: notes who is to hear of it. */
  prepare(event: CacheEvent): Delivery {
    return { event, subscribers: this.#subscribers };
  }

  deliver(delivery: Delivery): void {
    if (delivery.subscribers.length === 0) return;
    this.#waiting.push(delivery);
    if (this.#telling) return;
    this.#telling = true;
    this.#tellWaiting();
  }

  #tellWaiting(): void {
    for (let next = 0; next < this.#waiting.length; next += 1) {
      const delivery = this.#waiting[next];
      for (const subscriber of delivery?.subscribers ?? []) {
        if (delivery !== undefined) this.#deliver(subscriber, delivery.event);
      }
    }
    this.#waiting = [];
    this.#telling = false;
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
