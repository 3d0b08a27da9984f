import type { ReadPlan } from '../../compile/index.ts';
import type {
  CacheEvent,
  CacheIndex,
  Informer,
  InformerState,
  StoredObject,
  Watcher,
} from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { type LabelSelector, selects } from '../../util/label-selector.ts';
import { differingPath } from './field-values.ts';
import { InterestTable } from './interest-table.ts';
import { isReplaced } from './object-change.ts';
import { isSharedByMany } from './shared-by-many.ts';
import { type Waker, wakeFor } from './waker.ts';

export interface ReadListOptions {
  readonly plan: ReadPlan;
  readonly watcher: Watcher;
  readonly waker: Waker;
}

/** Where a list is looked for. */
export type ListScope =
  /** In these namespaces; the empty one is that of cluster-scoped kinds. */
  | { readonly kind: 'named'; readonly namespaces: readonly string[] }
  /** In all for which this holds. */
  | { readonly kind: 'wide'; readonly has: (namespace: string) => boolean };

/** What one resource asks for. */
export interface ListRequest {
  readonly key: string;
  readonly scope: ListScope;
  readonly selector: LabelSelector;
}

/** What a resource asked for at one topic. */
interface Interest {
  readonly selector: LabelSelector;
  readonly has: (namespace: string) => boolean;
}

/** Stands for all namespaces in the index of a read that looks into more than it can name. */
const everywhere = '*';

/** One read by selector of a definition: a watch for all resources, served to each from an index. */
export class ReadList {
  readonly informer: Informer;
  readonly #plan: ReadPlan;
  readonly #waker: Waker;
  readonly #topicsOf: (object: KubeObject) => readonly string[];
  readonly #index: CacheIndex;
  readonly #interests = new InterestTable<Interest>();
  readonly #stop: readonly (() => void)[];

  constructor({ plan, watcher, waker }: ReadListOptions) {
    this.#plan = plan;
    this.#waker = waker;
    const { gvk, watchSelector, indexKey } = plan;
    this.informer = watcher.acquire({
      gvk,
      ...(watchSelector === undefined ? {} : { labelSelector: watchSelector }),
    });
    const isWide = plan.reach === 'wide';
    // The informer may be shared with other definitions: the name says all that the function depends on.
    const name = `namespace and label ${indexKey ?? ''}${isWide ? ', and all' : ''}`;
    this.#topicsOf = (object) => topicsOf(object, indexKey, isWide);
    this.#index = this.informer.index(name, this.#topicsOf);
    this.#stop = [
      this.informer.subscribe((event) => this.#onEvent(event)),
      this.informer.onState(() => waker.wakeAll()),
    ];
  }

  get state(): InformerState {
    return this.informer.state;
  }

  /** Registers the interest and reads, in one synchronous step. Sorted by namespace and name. */
  read({ key, scope, selector }: ListRequest): readonly StoredObject[] {
    const has = scope.kind === 'wide' ? scope.has : () => true;
    const topics = this.#topicsFor(scope, selector);
    for (const topic of topics) this.#interests.set(topic, key, { selector, has });
    this.#interests.retain(key, new Set(topics));
    return topics
      .flatMap((topic) => this.#index.get(topic))
      .filter(
        ({ object: { metadata } }) =>
          selects(selector, metadata.labels) && has(metadata.namespace ?? ''),
      )
      .sort(byNamespaceAndName);
  }

  forget(key: string): void {
    this.#interests.retain(key, new Set());
  }

  stop(): void {
    for (const stop of this.#stop) stop();
    this.informer.release();
  }

  #topicsFor(scope: ListScope, selector: LabelSelector): readonly string[] {
    const { indexKey } = this.#plan;
    const value = indexKey === undefined ? undefined : selector.matchLabels[indexKey];
    const namespaces = scope.kind === 'wide' ? [everywhere] : scope.namespaces;
    return namespaces.map((namespace) => topicFor(namespace, value));
  }

  #onEvent(event: CacheEvent): void {
    // Without an interest there is no pass that saw anything.
    const changed =
      isReplaced(event) ||
      differingPath(event.old?.object, event.current?.object, this.#plan.pathsRead) !== undefined;
    for (const [key, shared] of this.#selectedBy(event, changed)) {
      wakeFor(this.#waker, key, { event, shared });
    }
  }

  /** Whose selection an object is in, was in, or has just left or entered. */
  #selectedBy({ old, current }: CacheEvent, changed: boolean): ReadonlyMap<string, boolean> {
    const keys = new Map<string, boolean>();
    const topics = [old, current].flatMap((stored) =>
      stored === undefined ? [] : this.#topicsOf(stored.object),
    );
    for (const topic of new Set(topics)) {
      const interested = this.#interests.of(topic);
      if (interested === undefined) continue;
      for (const [key, { selector, has }] of interested) {
        if (!has((current ?? old)?.object.metadata.namespace ?? '')) continue;
        const before = old !== undefined && selects(selector, old.object.metadata.labels);
        const after = current !== undefined && selects(selector, current.object.metadata.labels);
        if (before !== after || (before && changed)) keys.set(key, isSharedByMany(interested));
      }
    }
    return keys;
  }
}

function topicFor(namespace: string, value: string | undefined): string {
  return value === undefined ? namespace : `${namespace}|${value}`;
}

function topicsOf(
  object: KubeObject,
  indexKey: string | undefined,
  isWide: boolean,
): readonly string[] {
  const { namespace = '', labels } = object.metadata;
  const value = indexKey === undefined ? undefined : labels?.[indexKey];
  const namespaces = isWide ? [namespace, everywhere] : [namespace];
  return value === undefined
    ? namespaces
    : namespaces.flatMap((each) => [each, topicFor(each, value)]);
}

function byNamespaceAndName(a: StoredObject, b: StoredObject): number {
  const [{ metadata: one }, { metadata: other }] = [a.object, b.object];
  if (one.namespace !== other.namespace)
    return (one.namespace ?? '') < (other.namespace ?? '') ? -1 : 1;
  return one.name < other.name ? -1 : 1;
}
