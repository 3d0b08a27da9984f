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
import { type Waker, wakeFor } from './waker.ts';

/** From so many resources on, a read that all of them share wakes them with low priority. */
const sharedByMany = 100;

export interface ReadListOptions {
  readonly plan: ReadPlan;
  readonly watcher: Watcher;
  readonly waker: Waker;
}

/** What one resource asks for. */
export interface ListRequest {
  readonly key: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly selector: LabelSelector;
}

/** One read by selector of a definition: a watch for all resources, served to each from an index. */
export class ReadList {
  readonly informer: Informer;
  readonly #plan: ReadPlan;
  readonly #waker: Waker;
  readonly #index: CacheIndex;
  readonly #interests = new InterestTable<LabelSelector>();
  readonly #stop: readonly (() => void)[];

  constructor({ plan, watcher, waker }: ReadListOptions) {
    this.#plan = plan;
    this.#waker = waker;
    const { gvk, watchSelector, indexKey } = plan;
    this.informer = watcher.acquire({
      gvk,
      ...(watchSelector === undefined ? {} : { labelSelector: watchSelector }),
    });
    // The informer may be shared with other definitions: the name says all that the function depends on.
    this.#index = this.informer.index(`namespace and label ${indexKey ?? ''}`, (object) =>
      topicsOf(object, indexKey),
    );
    this.#stop = [
      this.informer.subscribe((event) => this.#onEvent(event)),
      this.informer.onState(() => waker.wakeAll()),
    ];
  }

  get state(): InformerState {
    return this.informer.state;
  }

  /** Registers the interest and reads, in one synchronous step. Sorted by name. */
  read(request: ListRequest): readonly StoredObject[] {
    const topic = this.#topicFor(request);
    this.#interests.set(topic, request.key, request.selector);
    this.#interests.retain(request.key, new Set([topic]));
    return this.#index
      .get(topic)
      .filter(({ object }) => selects(request.selector, object.metadata.labels))
      .sort((a, b) => (a.object.metadata.name < b.object.metadata.name ? -1 : 1));
  }

  forget(key: string): void {
    this.#interests.retain(key, new Set());
  }

  stop(): void {
    for (const stop of this.#stop) stop();
    this.informer.release();
  }

  #topicFor({ namespace, selector }: ListRequest): string {
    const { indexKey } = this.#plan;
    const value = indexKey === undefined ? undefined : selector.matchLabels[indexKey];
    return topicFor(namespace, value);
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
      stored === undefined ? [] : topicsOf(stored.object, this.#plan.indexKey),
    );
    for (const topic of new Set(topics)) {
      const interested = this.#interests.of(topic);
      if (interested === undefined) continue;
      for (const [key, selector] of interested) {
        const before = old !== undefined && selects(selector, old.object.metadata.labels);
        const after = current !== undefined && selects(selector, current.object.metadata.labels);
        if (before !== after || (before && changed)) keys.set(key, interested.size > sharedByMany);
      }
    }
    return keys;
  }
}

function topicFor(namespace: string, value: string | undefined): string {
  return value === undefined ? namespace : `${namespace}|${value}`;
}

function topicsOf(object: KubeObject, indexKey: string | undefined): readonly string[] {
  const { namespace = '', labels } = object.metadata;
  const value = indexKey === undefined ? undefined : labels?.[indexKey];
  return value === undefined ? [namespace] : [namespace, topicFor(namespace, value)];
}
