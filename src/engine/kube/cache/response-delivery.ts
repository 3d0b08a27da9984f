import type { Gvk } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { PassToken, StoredObject } from '../roles.ts';
import type { RequestTicket } from './object-store.ts';
import type { ReflectorContext } from './reflector-context.ts';
import type { SharedInformer } from './shared-informer.ts';

interface ResponseDeliveryOptions {
  readonly context: Pick<ReflectorContext, 'clock' | 'decode' | 'settings'>;
  readonly gvk: Gvk;
  readonly namespace: string | undefined;
  readonly name: string;
  /** The informers that may select the object. */
  readonly informers: readonly SharedInformer[];
}

/**
 * Delivers the response to one request to the informers that existed when the request started. Later informers list
 * the object or get it from their watch.
 */
export class ResponseDelivery implements WriteTicket {
  readonly #context: Pick<ReflectorContext, 'clock' | 'decode' | 'settings'>;
  readonly #gvk: Gvk;
  readonly #targets: readonly { readonly shared: SharedInformer; readonly ticket: RequestTicket }[];
  #cancelTimer: () => void;
  #hasEnded = false;

  constructor({ context, gvk, namespace, name, informers }: ResponseDeliveryOptions) {
    this.#context = context;
    this.#gvk = gvk;
    this.#targets = informers.map((shared) => ({
      shared,
      ticket: shared.store.begin(namespace, name),
    }));
    this.#cancelTimer = this.#limitHolding();
  }

  sending(): void {
    if (this.#hasEnded) return;
    this.#cancelTimer();
    for (const { shared, ticket } of this.#targets) shared.store.hold(ticket);
    this.#cancelTimer = this.#limitHolding();
  }

  store(object: KubeObject, pass: PassToken | undefined): StoredObject {
    const stored = this.#context.decode(object, this.#gvk);
    for (const { shared } of this.#targets) shared.store.storeResponse(stored, pass);
    return stored;
  }

  deleting(uid: string, pass: PassToken | undefined): void {
    const at = new Date(this.#context.clock.nowMs()).toISOString().replace(/\.\d+Z$/, 'Z');
    for (const { shared, ticket } of this.#targets) {
      shared.store.deleting(ticket.key, uid, { at, pass });
    }
  }

  gone(uid: string | undefined, pass: PassToken | undefined): void {
    for (const { shared, ticket } of this.#targets) shared.store.gone(ticket, uid, pass);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#cancelTimer();
    for (const { shared, ticket } of this.#targets) shared.store.end(ticket);
  }

  /** Returns the function that cancels the limit. */
  #limitHolding(): () => void {
    const { clock, settings } = this.#context;
    return clock.after(settings.holdEventsMs, () => {
      for (const { shared, ticket } of this.#targets) shared.store.stopHolding(ticket);
    });
  }
}

/**
 * A write in flight to one key. Contract between kube/cache (implements) and the writer in
 * kube/api (calls).
 */
export interface WriteTicket {
  /**
   * The request is sent now, after its turn in the queue: watch events of the key are held from now on. Many waiting requests wait longer than
   * events are held, and an event that is delivered before its response triggers the reconcile that has caused it.
   */
  sending(): void;
  /**
   * Decodes the object of a response, stores it in every informer that selects it, and notifies all subscribers. The
   * events carry `pass`.
   */
  store(object: KubeObject, pass: PassToken | undefined): StoredObject;
  /** The server accepted a DELETE: the entry with this UID is marked as deleting until the watch removes it. */
  deleting(uid: string, pass: PassToken | undefined): void;
  /** The server responded with 404, or a UID mismatch: removes the entry with this UID, or any entry when undefined. */
  gone(uid: string | undefined, pass: PassToken | undefined): void;
  /** The write has ended, successfully or not. Must always be called. */
  end(): void;
}

export interface WriteThrough {
  begin(gvk: Gvk, namespace: string | undefined, name: string): WriteTicket;
}
