import type { FieldPath, OperatorPlan } from '../../compile/index.ts';
import type {
  CacheEvent,
  Cluster,
  Informer,
  InformerQuery,
  KubeError,
  ObjectRef,
  StoredObject,
} from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { type GroupKind, type Gvk, gvkKey, gvkOf } from '../../util/gvk.ts';
import { invariant } from '../../util/invariant.ts';
import { ownerUidLabel } from '../names.ts';
import { type ChildWatch, watchChildren } from './child-watch.ts';
import { DependencyIndex } from './dependency-index.ts';
import { type Look, type NamedObject, NamedObjects } from './named-objects.ts';
import { PassDependencies } from './pass-dependencies.ts';
import type { ResourceQueue } from './resource-queue.ts';
import { type ResourceWatch, watchResources } from './resource-watch.ts';
import { NamespaceWatch, ReadList } from './selections.ts';
import { settled, settledSoon } from './settled.ts';

/** How long a pass waits for the first look at an object that it reads by name, before it goes on without. */
const firstLookMs = 2_000;
/** So many objects in our way are watched; beyond that the queue looks again after `retry.permanent`. */
const watchedConflicts = 100;
/** What tells whether an object in our way is still somebody else's. */
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
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly queue: ResourceQueue;
  /** Kinds of which there may be children that no child of the plan asks for. */
  readonly formerKinds: readonly Gvk[];
  /** As {@link ResourceWatchOptions.guardedNamespaces}. @default none */
  readonly guardedNamespaces?: ReadonlySet<string>;
  /** Are there objects with our finalizer though the definition needs none? @default false */
  readonly hasLeftFinalizers?: boolean;
  /** A child of this resource has left its watch, and nobody has seen it being deleted. @default nobody is told */
  readonly onLost?: (key: string, stored: StoredObject) => void;
  /** Called with every event of the kind before any resource is enqueued for it. @default none */
  readonly onResourceEvent?: ((event: CacheEvent) => void) | undefined;
  /**
   * Sees resources and children through these, which watch for the same plan and outlive it. Its own dependencies enqueue nothing, but
   * what it alone looks at. @default undefined: it watches by itself
   */
  readonly beside?: Watches;
}

/** A watch that does not succeed, or cannot be relied on. */
export interface WatchProblem {
  readonly watching: string;
  readonly error: KubeError;
  /** Of the objects that it is about, where the definition writes their name. */
  readonly literalName?: string | undefined;
}

/** All that one definition watches, and which of its resources depend on what. */
export class Watches {
  readonly #options: WatchesOptions;
  readonly #resources: ResourceWatch;
  /** Which resources depend on what. */
  readonly index: DependencyIndex;
  /** Objects that are watched by name. */
  readonly named: NamedObjects;
  readonly #children: Map<string, ChildWatch>;
  readonly #lists = new Map<string, ReadList>();
  readonly #namespaces: NamespaceWatch | undefined;
  /** Topics of objects in the way of a child. */
  readonly #conflicts = new Set<string>();

  /** Acquires and subscribes. Keys may be enqueued from here on. */
  constructor(options: WatchesOptions) {
    this.#options = options;
    const {
      plan,
      cluster: watcher,
      clock,
      queue,
      formerKinds,
      hasLeftFinalizers = false,
      beside,
    } = options;
    this.#children = beside === undefined ? new Map() : beside.#children;
    this.#resources =
      beside?.resources ??
      watchResources({
        plan,
        watcher,
        queue,
        guardedNamespaces: options.guardedNamespaces,
        hasLeftFinalizers,
        onEvent: options.onResourceEvent,
      });
    const index = new DependencyIndex({ clock, onUnused: (topic) => this.#endOf(topic) });
    this.index = index;
    this.named = new NamedObjects({ watcher, queue, index, reads: plan.reads });
    const selectsNamespaces = plan.reads.some((read) => read.selectsNamespaces);
    this.#namespaces = selectsNamespaces
      ? new NamespaceWatch({ watcher, queue, index })
      : undefined;
    for (const read of plan.reads) {
      if (read.by !== 'selector') continue;
      this.#lists.set(read.id, new ReadList({ plan: read, watcher, queue, index }));
    }
    const children = [...plan.children, ...(plan.onDelete?.children ?? [])];
    for (const gvk of [...children.map((child) => child.gvk), ...formerKinds])
      this.#alsoChildren(gvk);
  }

  /** The watch on the children of a kind; begun if nobody has asked for it so far. */
  #alsoChildren(gvk: Gvk): ChildWatch {
    const known = this.#children.get(gvkKey(gvk));
    if (known !== undefined) return known;
    const { plan, cluster: watcher, queue } = this.#options;
    const watch = watchChildren({
      plan,
      gvk,
      watcher,
      queue,
      resources: this.#resources,
      index: this.index,
      onLost: this.#options.onLost ?? (() => undefined),
    });
    this.#children.set(gvkKey(gvk), watch);
    return watch;
  }

  get resources(): ResourceWatch {
    return this.#resources;
  }

  /** Resolves when every informer has synced or failed once. */
  async settled(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers()].map(([, informer]) => settled(informer, signal)));
  }

  children(gvk: Gvk): ChildWatch {
    const watch = this.#children.get(gvkKey(gvk));
    invariant(watch !== undefined, `No watch on children of kind "${gvk.kind}"`);
    return watch;
  }

  /** The informer of the children of a kind in whatever version; undefined: they are not watched. */
  informerOf({ group, kind }: GroupKind): Informer | undefined {
    for (const { informer } of this.#children.values()) {
      const { gvk } = informer.query;
      if (gvk.kind === kind && gvk.group === group) return informer;
    }
    return undefined;
  }

  /** The kinds whose children are watched, for whomever. */
  *childKinds(): Iterable<Gvk> {
    for (const { informer } of this.#children.values()) yield informer.query.gvk;
  }

  /**
   * Watches the children of these kinds for one resource, and of no others that only it needed, and gives the watches a short while for
   * their first look. A kind that the definition does not name is watched until some time after the last resource that needed it.
   */
  async borrow(key: string, gvks: readonly Gvk[], signal: AbortSignal): Promise<void> {
    const lent = gvks.filter((gvk) => {
      const kind = gvkKey(gvk);
      return !this.#children.has(kind) || this.#isBorrowed(kind);
    });
    const topics = new Set(lent.map((gvk) => kindTopic(gvkKey(gvk))));
    for (const topic of topics) this.index.set(topic, key, onKind);
    this.index.retainKinds(key, topics);
    const informers = lent.map((gvk) => this.#alsoChildren(gvk).informer);
    const { clock } = this.#options;
    await settledSoon(informers, { clock, timeoutMs: firstLookMs, signal });
  }

  /** A resource needs no kinds any more that the definition does not name. */
  endBorrowing(key: string): void {
    this.index.retainKinds(key, none);
  }

  /** The watches on what may be a resource's own: not those that only others need. */
  *childrenOf(key: string): Iterable<ChildWatch> {
    for (const [kind, watch] of this.#children) {
      const isOthers = this.#isBorrowed(kind) && !this.index.of(kindTopic(kind))?.has(key);
      if (!isOthers) yield watch;
    }
  }

  allChildren(): Iterable<ChildWatch> {
    return this.#children.values();
  }

  /**
   * What a read sees of an object that another watch has delivered. Of what carries our label the children's watch tells: the two
   * are not ordered, and a child that is known to be gone must not be read as if it were there.
   */
  confirmed(stored: StoredObject): StoredObject | undefined {
    const { apiVersion, kind, metadata } = stored.object;
    if (metadata.labels?.[ownerUidLabel] === undefined) return stored;
    const watch = this.#children.get(gvkKey(gvkOf(apiVersion, kind)));
    if (watch === undefined || watch.informer.state.kind !== 'synced') return stored;
    return watch.informer.get(metadata.namespace, metadata.name);
  }

  list(readId: string): ReadList {
    const list = this.#lists.get(readId);
    invariant(list !== undefined, `No watch for read "${readId}"`);
    return list;
  }

  get namespaces(): NamespaceWatch {
    invariant(this.#namespaces !== undefined, 'No read of the plan selects namespaces');
    return this.#namespaces;
  }

  /** An object outside the children's watches, as far as a watch by name knows it already. */
  peekNamed(ref: ObjectRef): StoredObject | undefined {
    return this.named.peek(ref);
  }

  /** Begins to note what a pass looks at. */
  startPass(key: string): PassDependencies {
    return new PassDependencies(key, this);
  }

  /** Starts watches on objects and gives them a short while for their first look. */
  async prepareNamed(refs: readonly ObjectRef[], signal: AbortSignal): Promise<void> {
    const informers = refs.map((ref) => this.named.informerOf(ref));
    const { clock } = this.#options;
    await settledSoon(informers, { clock, timeoutMs: firstLookMs, signal });
  }

  /** @internal for {@link PassDependencies} Undefined: there are too many of them to be watched. */
  watchConflict(ref: ObjectRef, look: Omit<Look, 'paths'>): NamedObject | undefined {
    const { topic } = look;
    if (!this.#conflicts.has(topic) && this.#conflicts.size >= watchedConflicts) return undefined;
    this.#conflicts.add(topic);
    return this.named.look(ref, { ...look, paths: ownershipPaths });
  }

  /** On nothing does a resource depend any more, but what it has borrowed: {@link Watches.endBorrowing}. */
  forget(key: string): void {
    this.index.retain(key, none);
  }

  problems(): readonly WatchProblem[] {
    // What only inventories ask for, which anybody may edit, is told by the resources that have them.
    const shared = [...this.#informers()]
      .filter(([, { query }]) => !this.#isOfBorrowed(query))
      .map(([watching, { state }]) => ({ watching, state }));
    return [...shared, ...this.named.problems()].flatMap(({ state, ...about }) =>
      state.kind === 'failing' ? [{ ...about, error: state.error }] : [],
    );
  }

  stop(): void {
    this.index.stop();
    if (this.#options.beside === undefined) {
      this.#resources.stop();
      for (const watch of this.#children.values()) watch.stop();
    }
    for (const list of this.#lists.values()) list.stop();
    this.#namespaces?.stop();
    this.named.stop();
  }

  /** Nothing is left of the other former kinds: they are watched only where a resource borrows them. */
  keepFormerKinds(left: readonly Gvk[]): void {
    const { plan, formerKinds } = this.#options;
    const used = [...plan.children, ...(plan.onDelete?.children ?? [])].map(({ gvk }) => gvk);
    const kept = new Set([...used, ...left].map(gvkKey));
    for (const kind of new Set(formerKinds.map(gvkKey))) {
      if (!kept.has(kind) && !this.#isBorrowed(kind)) this.#endChildren(kind);
    }
  }

  #endChildren(kind: string): void {
    this.#children.get(kind)?.stop();
    this.#children.delete(kind);
  }

  /** What ends after a while because no resource depends on it any more. */
  #endOf(topic: string): (() => void) | undefined {
    this.#conflicts.delete(topic);
    if (topic.startsWith(kindPrefix)) {
      return () => this.#endChildren(topic.slice(kindPrefix.length));
    }
    return this.named.has(topic) ? () => this.named.release(topic) : undefined;
  }

  /** Are the children of a kind watched only because inventories of resources ask for it? */
  #isBorrowed(kind: string): boolean {
    return this.index.isAlive(kindTopic(kind));
  }

  #isOfBorrowed({ gvk, labelSelector }: InformerQuery): boolean {
    return labelSelector === ownerUidLabel && this.#isBorrowed(gvkKey(gvk));
  }

  *#informers(): Iterable<readonly [string, Informer]> {
    yield [`resources (${this.#options.plan.definition.kind.gvk.kind})`, this.#resources.informer];
    for (const [kind, { informer }] of this.#children) yield [`children (${kind})`, informer];
    for (const [id, { informer }] of this.#lists) yield [`reads.${id}`, informer];
    if (this.#namespaces !== undefined) yield ['namespaces', this.#namespaces.informer];
  }
}
