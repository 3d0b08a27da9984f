import type { ReadPlan } from '#compile';
import type { CacheEvent, CacheIndex, Informer, InformerState, StoredObject } from '#kube/roles.ts';
import { canonicalJson } from '#util/canonical-json.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type LabelSelector, matchesSelector } from '#util/label-selector.ts';
import { kindAt } from '../identity.ts';
import type { PassDependencies } from './dependency-index.ts';
import { differingPath, isReplaced } from './object-change.ts';
import { isSharedByMany } from './resource-queue.ts';
import type { Watches } from './watches.ts';

/** Called for each resource that selects an object when the object changes, or has been deleted. */
export type SelectedChange = (key: string, plan: ReadPlan, event: CacheEvent) => void;

/** The namespaces of a list. */
export type ListScope =
  /** These namespaces. The empty one: cluster-scoped kinds. */
  | { readonly kind: 'named'; readonly namespaces: readonly string[] }
  /** All namespaces for which this is true. */
  | { readonly kind: 'wide'; readonly has: (namespace: string) => boolean };

/** The list that one resource reads. */
export interface ListRequest {
  readonly scope: ListScope;
  readonly selector: LabelSelector;
}

/** Index entry of all namespaces, for a read that does not name its namespaces. */
const allNamespaces = '*';

/** One read by selector of a definition: one watch for all resources, and an index for each of them. */
export class ReadList {
  readonly informer: Informer;
  readonly #watches: Watches;
  readonly #plan: ReadPlan;
  /** Undefined: that of the resources. */
  readonly cluster: string | undefined;
  readonly #placesOf: (object: KubeObject) => readonly string[];
  readonly #byPlace: CacheIndex;
  readonly #taps: readonly SelectedChange[];
  readonly #stop: readonly (() => void)[];

  /** `cluster`: the member cluster; undefined: the cluster of the resources. */
  constructor(watches: Watches, plan: ReadPlan, cluster: string | undefined) {
    this.#watches = watches;
    this.#plan = plan;
    this.cluster = cluster;
    this.#taps = watches.tapsOf(plan);
    const { gvk, watchSelector, indexKey } = plan;
    this.informer = watches.cluster.acquire({
      gvk: kindAt(gvk, cluster),
      ...(watchSelector === undefined ? {} : { labelSelector: watchSelector }),
    });
    const isWide = plan.reach === 'wide';
    // Other definitions may share the informer: the name contains everything that the function depends on.
    const name = `namespace and label ${indexKey ?? ''}${isWide ? ', and all' : ''}`;
    this.#placesOf = (object) => placesOf(object, indexKey, isWide);
    this.#byPlace = this.informer.index(name, this.#placesOf);
    this.#stop = [
      this.informer.subscribe((event) => this.#onEvent(event)),
      this.informer.onState(() => watches.onState(cluster)),
    ];
  }

  /** Registers the dependency and reads, in one synchronous step. Sorted by namespace and name. */
  read({ scope, selector }: ListRequest, { key, used }: PassDependencies): readonly StoredObject[] {
    const has = scope.kind === 'wide' ? scope.has : everyNamespace;
    const places = this.#placesFor(scope, selector);
    for (const place of places) {
      const topic = this.#topicOf(place);
      used.add(topic);
      this.#watches.index.set(topic, key, { kind: 'selection', selector, has });
    }
    return places
      .flatMap((place) => this.#byPlace.get(place))
      .filter(
        ({ object: { metadata } }) =>
          matchesSelector(selector, metadata.labels) && has(metadata.namespace ?? ''),
      )
      .sort(byNamespaceAndName);
  }

  stop(): void {
    for (const stop of this.#stop) stop();
    this.informer.release();
  }

  #placesFor(scope: ListScope, selector: LabelSelector): readonly string[] {
    const { indexKey } = this.#plan;
    const value = indexKey === undefined ? undefined : selector.matchLabels[indexKey];
    const namespaces = scope.kind === 'wide' ? [allNamespaces] : scope.namespaces;
    return namespaces.map((namespace) => placeFor(namespace, value));
  }

  #topicOf(place: string): string {
    const where = this.cluster === undefined ? '' : `${this.cluster}:`;
    return `reads.${this.#plan.id} ${where}${place}`;
  }

  #onEvent(event: CacheEvent): void {
    const { old, current } = event;
    const changed =
      isReplaced(event) ||
      differingPath(old?.object, current?.object, this.#plan.pathsRead) !== undefined;
    const before = old === undefined ? [] : this.#placesOf(old.object);
    const after = current === undefined ? [] : this.#placesOf(current.object);
    for (const place of before) this.#enqueueAt(place, event, changed);
    for (const place of after) {
      if (!before.includes(place)) this.#enqueueAt(place, event, changed);
    }
  }

  /** Enqueues the resources whose selection contains or contained the object. Without a dependency no reconcile has read it. */
  #enqueueAt(place: string, event: CacheEvent, changed: boolean): void {
    const { index, queue } = this.#watches;
    const dependencies = index.of(this.#topicOf(place));
    if (dependencies === undefined) return;
    const { old, current } = event;
    const namespace = (current ?? old)?.object.metadata.namespace ?? '';
    const isShared = isSharedByMany(dependencies);
    for (const [key, dependency] of dependencies) {
      if (dependency.kind !== 'selection' || !dependency.has(namespace)) continue;
      const { selector } = dependency;
      const was = old !== undefined && matchesSelector(selector, old.object.metadata.labels);
      const is = current !== undefined && matchesSelector(selector, current.object.metadata.labels);
      if (is || (was && current === undefined))
        for (const tap of this.#taps) tap(key, this.#plan, event);
      if (was !== is || (was && changed)) queue.enqueueFor(key, event, isShared);
    }
  }
}

function everyNamespace(): boolean {
  return true;
}

function placeFor(namespace: string, value: string | undefined): string {
  return value === undefined ? namespace : `${namespace}|${value}`;
}

function placesOf(
  object: KubeObject,
  indexKey: string | undefined,
  isWide: boolean,
): readonly string[] {
  const { namespace = '', labels } = object.metadata;
  const value = indexKey === undefined ? undefined : labels?.[indexKey];
  const namespaces = isWide ? [namespace, allNamespaces] : [namespace];
  return value === undefined
    ? namespaces
    : namespaces.flatMap((each) => [each, placeFor(each, value)]);
}

function byNamespaceAndName(a: StoredObject, b: StoredObject): number {
  const [{ metadata: one }, { metadata: other }] = [a.object, b.object];
  if (one.namespace !== other.namespace)
    return (one.namespace ?? '') < (other.namespace ?? '') ? -1 : 1;
  return one.name < other.name ? -1 : 1;
}

const namespaceKind = gvkOf('v1', 'Namespace');

/** The namespaces that a selector selects now. */
export interface SelectedNamespaces {
  readonly state: InformerState;
  readonly names: ReadonlySet<string>;
}

/** The watch on Namespaces, for reads with a `namespaceSelector`: one that is created, deleted or relabelled enqueues the resources that select it. */
export class NamespaceWatch {
  readonly informer: Informer;
  readonly #watches: Watches;
  /** By topic. */
  readonly #selectors = new Map<string, LabelSelector>();
  readonly #stop: readonly (() => void)[];

  constructor(watches: Watches) {
    this.#watches = watches;
    this.informer = watches.cluster.acquire({ gvk: kindAt(namespaceKind, undefined) });
    this.#stop = [
      this.informer.subscribe((event) => this.#onEvent(event)),
      this.informer.onState(() => watches.onState(undefined)),
    ];
  }

  /** Registers the dependency and reads, in one synchronous step. */
  select(selector: LabelSelector, { key, used }: PassDependencies): SelectedNamespaces {
    const topic = `namespaces ${canonicalJson(selector)}`;
    used.add(topic);
    this.#selectors.set(topic, selector);
    this.#watches.index.set(topic, key, { kind: 'selection', selector, has: everyNamespace });
    const names = new Set<string>();
    for (const { object } of this.informer.list()) {
      if (matchesSelector(selector, object.metadata.labels)) names.add(object.metadata.name);
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
    const { index, queue } = this.#watches;
    for (const [topic, selector] of this.#selectors) {
      const dependencies = index.of(topic);
      if (dependencies === undefined) {
        this.#selectors.delete(topic);
        continue;
      }
      const was = before !== undefined && matchesSelector(selector, before.labels);
      const is = after !== undefined && matchesSelector(selector, after.labels);
      if (was === is) continue;
      const isShared = isSharedByMany(dependencies);
      for (const key of dependencies.keys()) queue.enqueueFor(key, event, isShared);
    }
  }
}
