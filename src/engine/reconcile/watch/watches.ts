import type { FieldPath, OperatorPlan, ReadPlan } from '#compile';
import { localKindsOf } from '#definition';
import type {
  CacheEvent,
  GroupKindAt,
  Informer,
  KindAt,
  KubeError,
  RefAt,
  RoutingCluster,
  StoredObject,
} from '#kube/roles.ts';
import type { Clock } from '#util/clock.ts';
import { type Gvk, isSameKind } from '#util/gvk.ts';
import { invariant } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { ownerUidLabel } from '#util/stored-names.ts';
import { kindAt, kindKey, kindOf } from '../identity.ts';
import { isElsewhere } from '../where.ts';
import { type ChildWatch, watchChildren } from './child-watch.ts';
import { clusterPrefix, clusterTopic, DependencyIndex } from './dependency-index.ts';
import { settled, settledSoon } from './informer-waits.ts';
import { type Lookup, type NamedObject, NamedObjects } from './named-objects.ts';
import type { ResourceQueue } from './resource-queue.ts';
import { type ResourceWatch, watchResources } from './resource-watch.ts';
import { NamespaceWatch, ReadList, type SelectedChange } from './selections.ts';

/** How long a reconcile waits for the first sync of an object that it reads by name, before it continues without. */
const firstSyncLimitMs = 2_000;
/** Maximum number of watched objects that conflict with children or that they miss; others are checked again after a delay. */
const maxWatchedObstacles = 100;
/** Fields that show whether a conflicting object still has another owner. */
const ownershipPaths: readonly FieldPath[] = [
  ['metadata', 'labels'],
  ['metadata', 'ownerReferences'],
  ['metadata', 'deletionTimestamp'],
];

const none: ReadonlySet<string> = new Set();
const kindPrefix = 'kind ';
const onKind = { kind: 'kind' } as const;

function kindTopic(kind: string): string {
  return `${kindPrefix}${kind}`;
}

export interface WatchesOptions {
  readonly plan: OperatorPlan;
  readonly cluster: RoutingCluster;
  readonly clock: Clock;
  readonly queue: ResourceQueue;
  /** Kinds that may have children although no child of the plan has the kind. */
  readonly previousKinds: readonly Gvk[];
  /** Namespaces of the runtime and its definitions: served only if the definition names them. @default none */
  readonly guardedNamespaces?: ReadonlySet<string>;
  /** Called with every resource that is not served only because its namespace is guarded. @default none */
  readonly onGuarded?: ((resource: KubeObject) => void) | undefined;
  /** Whether objects have our finalizer although the definition needs none. @default false */
  readonly hasRemainingFinalizers?: boolean;
  /** Called for each resource that reads an object by selector when the object changes or is deleted. @default none */
  readonly tapsOf?: (read: ReadPlan) => readonly SelectedChange[];
  /** Called when a child of this resource left its watch without a deletion. @default none */
  readonly onLost?: (key: string, stored: StoredObject) => void;
  /** Called with the last state of a child that left its watch, deleted or not. @default none */
  readonly onRemoved?: (key: string, stored: StoredObject) => void;
  /** Called when an informer has changed its state. @default none */
  readonly onWatchState?: (() => void) | undefined;
  /** Called with every event of the kind before any resource is enqueued for it. @default none */
  readonly onResourceEvent?: ((event: CacheEvent) => void) | undefined;
  /**
   * Watches of the same plan that outlive these and provide resources and children. Only dependencies that are not in the base enqueue.
   * @default undefined: it has its own watches
   */
  readonly base?: Watches;
  /** Calls the listener with the name of another cluster whose state changed; undefined: of any. @default undefined: there are none */
  readonly onClusterChange?:
    | ((listener: (cluster: string | undefined) => void) => () => void)
    | undefined;
}

/** A watch that fails or is unreliable. */
export interface WatchProblem {
  readonly watching: string;
  readonly error: KubeError;
  /** The name of the objects, if the definition contains it as a literal. */
  readonly literalName?: string | undefined;
}

/** All watches of one definition, and the dependencies of its resources. */
export class Watches {
  readonly #options: WatchesOptions;
  readonly plan: OperatorPlan;
  readonly cluster: RoutingCluster;
  readonly queue: ResourceQueue;
  readonly resources: ResourceWatch;
  /** Dependencies of the resources. */
  readonly index: DependencyIndex;
  /** Objects that are watched by name. */
  readonly named: NamedObjects;
  /** By kind. */
  readonly #children: Map<string, ChildWatch>;
  readonly #lists = new Map<string, ReadList>();
  readonly #namespaces: NamespaceWatch | undefined;
  /** Topics of objects that conflict with a child, or that it misses. */
  readonly #obstacles = new Set<string>();
  readonly #stops: readonly (() => void)[];

  /** Acquires informers and subscribes. Keys may be enqueued from now on. */
  constructor(options: WatchesOptions) {
    this.#options = options;
    const { plan, cluster, clock, queue, previousKinds, base } = options;
    this.plan = plan;
    this.cluster = cluster;
    this.queue = queue;
    this.#children = base === undefined ? new Map() : base.#children;
    this.resources = base?.resources ?? watchResources(options);
    this.index = new DependencyIndex(clock, (topic) => this.#releaserOf(topic));
    this.named = new NamedObjects(this);
    const selectsNamespaces = plan.reads.some((read) => read.selectsNamespaces);
    this.#namespaces = selectsNamespaces ? new NamespaceWatch(this) : undefined;
    for (const read of plan.reads) {
      if (read.by !== 'selector') continue;
      // In another cluster it starts with the first resource that reads from there.
      if (!isElsewhere(read)) this.list(read.id);
    }
    for (const gvk of [...localKindsOf(plan), ...previousKinds])
      this.#addChildWatch(kindAt(gvk, undefined));
    const { onWatchState, onClusterChange } = options;
    this.#stops = [
      onClusterChange?.((name) => this.#enqueueDependents(name)),
      onWatchState && this.resources.informer.onState(onWatchState),
    ].filter((stop) => stop !== undefined);
  }

  /** Undefined: those of all other clusters. */
  #enqueueDependents(cluster: string | undefined): void {
    const topics =
      cluster === undefined ? this.index.topicsWith(clusterPrefix) : [clusterTopic(cluster)];
    for (const topic of topics)
      for (const key of this.index.of(topic)?.keys() ?? []) this.queue.enqueue(key, 'low', 'watch');
  }

  /** An informer changed its state: enqueues the resources that depend on it. */
  onState(cluster: string | undefined): void {
    this.#options.onWatchState?.();
    if (cluster === undefined) this.queue.enqueueAll();
    else this.#enqueueDependents(cluster);
  }

  /** Called for each resource that reads an object by selector when the object changes or is deleted. */
  tapsOf(read: ReadPlan): readonly SelectedChange[] {
    return this.#options.tapsOf?.(read) ?? [];
  }

  /** A child of this resource left its watch without a deletion (it may only have lost its label), or lost its owner reference. */
  onLost(key: string, stored: StoredObject): void {
    this.#options.onLost?.(key, stored);
  }

  /** A child of this resource left its watch; the last state. */
  onRemoved(key: string, stored: StoredObject): void {
    this.#options.onRemoved?.(key, stored);
  }

  /** The watch on the children of a kind; started on the first call. */
  #addChildWatch(gvk: KindAt): ChildWatch {
    const key = kindKey(gvk);
    // The watches of a preview belong to its base, and enqueue there.
    const owner = this.#options.base ?? this;
    const watch = this.#children.get(key) ?? watchChildren(owner, gvk);
    this.#children.set(key, watch);
    return watch;
  }

  /** Resolves when every informer has synced or failed once. */
  async settled(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers()].map(([, informer]) => settled(informer, signal)));
  }

  /** The watch on the children of a kind in the cluster of the resources. */
  children(gvk: Gvk): ChildWatch {
    const watch = this.findChildren(kindAt(gvk, undefined));
    invariant(watch !== undefined, `No watch on children of kind "${gvk.kind}"`);
    return watch;
  }

  /** The watch on the children of a kind in its cluster, if there is one. */
  findChildren(gvk: KindAt): ChildWatch | undefined {
    return this.#children.get(kindKey(gvk));
  }

  /** The informer of the children of a kind in its cluster, in any version. Undefined: they are not watched. */
  informerOf(kind: GroupKindAt): Informer | undefined {
    for (const { informer, gvk } of this.#children.values())
      if (isSameKind(gvk, kind) && gvk.cluster === kind.cluster) return informer;
    return undefined;
  }

  /** All kinds whose children are watched in the cluster of the resources. */
  *childKinds(): Iterable<KindAt> {
    for (const { gvk } of this.#children.values()) if (gvk.cluster === undefined) yield gvk;
  }

  /**
   * Watches the children of these kinds in another cluster, until some time after the last resource that depends on it, and waits
   * briefly for the first sync.
   */
  async watchIn(cluster: string, gvks: readonly Gvk[], signal: AbortSignal): Promise<void> {
    const informers = gvks.map((gvk) => this.#addChildWatch(kindAt(gvk, cluster)).informer);
    this.#options.base?.index.releaseLater(clusterTopic(cluster));
    await this.#settledSoon(informers, signal);
  }

  /**
   * Watches the children of the kinds in a resource's inventory, releases other kinds that only it needed, and waits briefly for the first
   * sync. A kind that the definition does not name is watched until some time after the last resource that needed it.
   */
  async watchInventoryKinds(key: string, gvks: readonly Gvk[], signal: AbortSignal): Promise<void> {
    const lent = gvks.filter((gvk) => {
      const kind = kindKey(kindAt(gvk, undefined));
      return !this.#children.has(kind) || this.#isInventoryKind(kind);
    });
    const topics = new Set(lent.map((gvk) => kindTopic(kindKey(kindAt(gvk, undefined)))));
    for (const topic of topics) this.index.set(topic, key, onKind);
    this.index.retainKinds(key, topics);
    const informers = lent.map((gvk) => this.#addChildWatch(kindAt(gvk, undefined)).informer);
    await this.#settledSoon(informers, signal);
  }

  /** Releases the kinds of a resource that the definition does not name. */
  releaseInventoryKinds(key: string): void {
    this.index.retainKinds(key, none);
  }

  /** The watches on kinds that the resource may own children of. */
  *childrenOf(key: string): Iterable<ChildWatch> {
    for (const [kind, watch] of this.#children) {
      const { cluster } = watch.gvk;
      const isOthers =
        cluster === undefined
          ? this.#isInventoryKind(kind) && !this.index.of(kindTopic(kind))?.has(key)
          : !this.index.of(clusterTopic(cluster))?.has(key);
      if (!isOthers) yield watch;
    }
  }

  allChildren(): Iterable<ChildWatch> {
    return this.#children.values();
  }

  /**
   * The object of another watch as a read sees it. The child watch decides for objects with our label: the two watches are not ordered,
   * and a child that was deleted must not be read as existing.
   */
  confirmedByChildWatch(stored: StoredObject): StoredObject | undefined {
    const { metadata } = stored.object;
    if (metadata.labels?.[ownerUidLabel] === undefined) return stored;
    const watch = this.findChildren(kindOf(stored));
    if (watch === undefined || watch.informer.state.kind !== 'synced') return stored;
    return watch.informer.get(metadata.namespace, metadata.name);
  }

  /** The watch of a read by selector, in another cluster if one is given; started on the first call. */
  list(readId: string, cluster?: string): ReadList {
    const key = cluster === undefined ? readId : `${cluster}:${readId}`;
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const read = this.plan.reads.find(({ id }) => id === readId);
    invariant(read !== undefined, `No read "${readId}"`);
    const list = new ReadList(this, read, cluster);
    this.#lists.set(key, list);
    return list;
  }

  get namespaces(): NamespaceWatch {
    invariant(this.#namespaces !== undefined, 'No read of the plan selects namespaces');
    return this.#namespaces;
  }

  /** Starts watches on objects and waits briefly for their first sync. */
  async prepareNamed(refs: readonly RefAt[], signal: AbortSignal): Promise<void> {
    const informers = new Set(refs.map((ref) => this.named.informerOf(ref)));
    await this.#settledSoon([...informers], signal);
  }

  /** @internal for {@link PassDependencies} Undefined: there are too many of them to be watched. */
  watchConflict(ref: RefAt, look: Omit<Lookup, 'paths'>): NamedObject | undefined {
    return this.#watchObstacle(ref, { ...look, paths: ownershipPaths });
  }

  /**
   * @internal for {@link PassDependencies} Undefined: there are too many of them to be watched. A definition does not require the right to
   * watch them.
   */
  watchMissing(ref: RefAt, look: Omit<Lookup, 'paths'>): NamedObject | undefined {
    return this.#watchObstacle(ref, { ...look, paths: [], isOptional: true });
  }

  #watchObstacle(ref: RefAt, look: Lookup): NamedObject | undefined {
    const { topic } = look;
    const isNew = !this.#obstacles.has(topic);
    if (isNew && this.#obstacles.size >= maxWatchedObstacles) return undefined;
    this.#obstacles.add(topic);
    return this.named.lookUp(ref, look);
  }

  /** Removes the dependencies of a resource, except inventory kinds: {@link Watches.releaseInventoryKinds}. */
  forget(key: string): void {
    this.index.retain(key, none);
  }

  problems(): readonly WatchProblem[] {
    // Kinds from inventories, which users can edit, are reported by the resources that have them.
    const shared = [...this.#informers()].flatMap(([watching, { query, state }]) =>
      state.kind === 'failing' && !this.#isOfInventoryKind(query)
        ? [{ watching, error: state.error }]
        : [],
    );
    return [...shared, ...this.named.problems()];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.index.stop();
    if (this.#options.base === undefined) {
      this.resources.stop();
      for (const watch of this.#children.values()) watch.stop();
    }
    for (const list of this.#lists.values()) list.stop();
    this.#namespaces?.stop();
    this.named.stop();
  }

  /** Stops the watches on other previous kinds: no children of them remain, except in inventories. */
  retainPreviousKinds(left: readonly Gvk[]): void {
    const { plan, previousKinds } = this.#options;
    const keyOf = (gvk: Gvk) => kindKey(kindAt(gvk, undefined));
    const kept = new Set([...localKindsOf(plan), ...left].map(keyOf));
    for (const kind of new Set(previousKinds.map(keyOf))) {
      if (!kept.has(kind) && !this.#isInventoryKind(kind)) this.#stopChildWatch(kind);
    }
  }

  #stopChildWatch(kind: string): void {
    this.#children.get(kind)?.stop();
    this.#children.delete(kind);
  }

  #settledSoon(informers: readonly Informer[], signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    return settledSoon(informers, { clock, timeoutMs: firstSyncLimitMs, signal });
  }

  /** Stops all watches in another cluster, except those on objects by name, which have topics of their own. */
  #stopCluster(cluster: string): void {
    for (const [kind, watch] of this.#children)
      if (watch.gvk.cluster === cluster) this.#stopChildWatch(kind);
    for (const [key, list] of this.#lists) {
      if (list.cluster !== cluster) continue;
      list.stop();
      this.#lists.delete(key);
    }
  }

  /** The function that releases an unused topic. */
  #releaserOf(topic: string): (() => void) | undefined {
    this.#obstacles.delete(topic);
    if (topic.startsWith(kindPrefix)) {
      return () => this.#stopChildWatch(topic.slice(kindPrefix.length));
    }
    if (topic.startsWith(clusterPrefix)) {
      return () => this.#stopCluster(topic.slice(clusterPrefix.length));
    }
    return this.named.has(topic) ? () => this.named.release(topic) : undefined;
  }

  /** Whether the children of a kind are watched only for inventories of resources. */
  #isInventoryKind(kind: string): boolean {
    return this.index.isUsed(kindTopic(kind));
  }

  /** Of an informer in the cluster of the resources. */
  #isOfInventoryKind({ gvk, labelSelector }: Informer['query']): boolean {
    const kind = kindKey(kindAt(gvk, undefined));
    return labelSelector === ownerUidLabel && this.#isInventoryKind(kind);
  }

  *#informers(): Iterable<readonly [string, Informer]> {
    yield [`resources (${this.plan.definition.kind.gvk.kind})`, this.resources.informer];
    // Other clusters are reported by the resources that use them, and never waited for.
    for (const [kind, { informer, gvk }] of this.#children)
      if (gvk.cluster === undefined) yield [`children (${kind})`, informer];
    for (const [id, { informer, cluster }] of this.#lists)
      if (cluster === undefined) yield [`reads.${id}`, informer];
    if (this.#namespaces !== undefined) yield ['namespaces', this.#namespaces.informer];
  }
}
