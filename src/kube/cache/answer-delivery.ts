import type { Gvk } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { PassToken, StoredObject } from '../roles.ts';
import type { AnswerTicket } from './object-store.ts';
import type { ReflectorContext } from './reflector-context.ts';
import type { SharedInformer } from './shared-informer.ts';
import type { WriteTicket } from './write-through.ts';

export interface AnswerDeliveryOptions {
  readonly context: Pick<ReflectorContext, 'clock' | 'ingest' | 'settings'>;
  readonly gvk: Gvk;
  readonly namespace: string | undefined;
  readonly name: string;
  /** Those that may hold the object. */
  readonly informers: readonly SharedInformer[];
}

/**
 * Brings the answer of one request to the informers that were there when it began. A later one has listed since, or
 * will, and its watch tells the rest.
 */
export class AnswerDelivery implements WriteTicket {
  readonly #context: Pick<ReflectorContext, 'clock' | 'ingest' | 'settings'>;
  readonly #gvk: Gvk;
  readonly #targets: readonly { readonly shared: SharedInformer; readonly ticket: AnswerTicket }[];
  readonly #cancelPatience: () => void;
  #isOver = false;

  constructor({ context, gvk, namespace, name, informers }: AnswerDeliveryOptions) {
    this.#context = context;
    this.#gvk = gvk;
    this.#targets = informers.map((shared) => ({
      shared,
      ticket: shared.store.begin(namespace, name),
    }));
    this.#cancelPatience = context.clock.after(context.settings.holdEventsMs, () => {
      for (const { shared, ticket } of this.#targets) shared.store.stopHolding(ticket);
    });
  }

  store(object: KubeObject, pass: PassToken | undefined): StoredObject {
    const stored = this.#context.ingest(object, this.#gvk);
    for (const { shared } of this.#targets) shared.store.answered(stored, pass);
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
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelPatience();
    for (const { shared, ticket } of this.#targets) shared.store.end(ticket);
  }
}
