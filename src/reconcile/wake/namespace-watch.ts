import type { CacheEvent, Informer, InformerState, Watcher } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import { gvkOf } from '../../util/gvk.ts';
import { type LabelSelector, selects } from '../../util/label-selector.ts';
import type { DependencyIndex } from './dependency-index.ts';
import { everyNamespace, type Reading } from './read-list.ts';
import { isSharedByMany, type ResourceQueue } from './resource-queue.ts';

const namespaceKind = gvkOf('v1', 'Namespace');

export interface NamespaceWatchOptions {
  readonly watcher: Watcher;
  readonly queue: ResourceQueue;
  readonly index: DependencyIndex;
}

/** What a selector of namespaces selects now. */
export interface SelectedNamespaces {
  readonly state: InformerState;
  readonly names: ReadonlySet<string>;
}

/** The watch on Namespaces, for reads with a `namespaceSelector`: one that comes, goes or is labelled anew runs the resources that select it. */
export class NamespaceWatch {
  readonly informer: Informer;
  readonly #queue: ResourceQueue;
  readonly #index: DependencyIndex;
  /** By topic. */
  readonly #selectors = new Map<string, LabelSelector>();
  readonly #stop: readonly (() => void)[];

  constructor({ watcher, queue, index }: NamespaceWatchOptions) {
    this.#queue = queue;
    this.#index = index;
    this.informer = watcher.acquire({ gvk: namespaceKind });
    this.#stop = [
      this.informer.subscribe((event) => this.#onEvent(event)),
      this.informer.onState(() => queue.enqueueAll()),
    ];
  }

  /** Registers the dependency and reads, in one synchronous step. */
  select(selector: LabelSelector, { key, used }: Reading): SelectedNamespaces {
    const topic = `namespaces ${canonicalJson(selector)}`;
    used.add(topic);
    this.#selectors.set(topic, selector);
    this.#index.set(topic, key, { kind: 'selection', selector, has: everyNamespace });
    const names = new Set<string>();
    for (const { object } of this.informer.list()) {
      if (selects(selector, object.metadata.labels)) names.add(object.metadata.name);
    }
    return { state: this.informer.state, names };
  }

  stop(): void {
    for (const stop of this.#stop) stop();
    this.informer.release();
  }

  #onEvent(event: CacheEvent): void {
    const before = event.old?.object.metadata;
    const after = event.current?.object.metadata;
    for (const [topic, selector] of this.#selectors) {
      const dependencies = this.#index.of(topic);
      if (dependencies === undefined) {
        this.#selectors.delete(topic);
        continue;
      }
      const was = before !== undefined && selects(selector, before.labels);
      const is = after !== undefined && selects(selector, after.labels);
      if (was === is) continue;
      const isShared = isSharedByMany(dependencies);
      for (const key of dependencies.keys()) this.#queue.enqueueFor(key, event, isShared);
    }
  }
}
