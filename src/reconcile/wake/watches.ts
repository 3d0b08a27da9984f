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
import { BorrowedKinds } from './borrowed-kinds.ts';
import { type ChildWatch, watchChildren } from './child-watch.ts';
import { InterestTable } from './interest-table.ts';
import { type NamedObject, NamedObjects, topicOfRef } from './named-objects.ts';
import { NamespaceWatch } from './namespace-watch.ts';
import { PassInterests } from './pass-interests.ts';
import { ReadList } from './read-list.ts';
import { type ResourceWatch, watchResources } from './resource-watch.ts';
import { settled, settledSoon } from './settled.ts';
import type { Waker } from './waker.ts';

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

export interface WatchesOptions {
  readonly plan: OperatorPlan;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly waker: Waker;
  /** Kinds of which there may be children that no child of the plan asks for. */
  readonly formerKinds: readonly Gvk[];
  /** As {@link ResourceWatchOptions.guardedNamespaces}. @default none */
  readonly guardedNamespaces?: ReadonlySet<string>;
  /** Are there objects with our finalizer though the definition needs none? @default false */
  readonly hasLeftFinalizers?: boolean;
  /** A child of this resource has left its watch, and nobody has seen it being deleted. @default nobody is told */
  readonly onLost?: (key: string, stored: StoredObject) => void;
  /** Told of every event of the kind before anybody is woken by it. @default nobody is told */
  readonly onResourceEvent?: ((event: CacheEvent) => void) | undefined;
  /**
   * Sees resources and children through these, which watch for the same plan and outlive it. Its own interests wake nobody, but what it
   * alone looks at. @default undefined: it watches by itself
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

/** All that one definition watches, and who of its resources is interested in what. */
export class Watches {
  readonly #options: WatchesOptions;
  readonly #resources: ResourceWatch;
  readonly #children: Map<string, ChildWatch>;
  /** Those among them that only inventories of resources ask for. */
  readonly #borrowed: BorrowedKinds;
  readonly #lists = new Map<string, ReadList>();
  readonly #named: NamedObjects;
  readonly #namespaces: NamespaceWatch | undefined;
  readonly #wanted = new InterestTable<true>();
  readonly #conflicts = new InterestTable<true>();

  /** Acquires and subscribes. Keys may be woken from here on. */
  constructor(options: WatchesOptions) {
    this.#options = options;
    const {
      plan,
      cluster: watcher,
      clock,
      waker,
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
        waker,
        guardedNamespaces: options.guardedNamespaces,
        hasLeftFinalizers,
        onEvent: options.onResourceEvent,
      });
    this.#named = new NamedObjects({ watcher, clock, waker, reads: plan.reads });
    this.#borrowed = new BorrowedKinds({ clock, onUnused: (kind) => this.#endChildren(kind) });
    const selectsNamespaces = plan.reads.some((read) => read.selectsNamespaces);
    this.#namespaces = selectsNamespaces ? new NamespaceWatch({ watcher, waker }) : undefined;
    for (const read of plan.reads) {
      if (read.by !== 'selector') continue;
      this.#lists.set(read.id, new ReadList({ plan: read, watcher, waker }));
    }
    const children = [...plan.children, ...(plan.onDelete?.children ?? [])];
    for (const gvk of [...children.map((child) => child.gvk), ...formerKinds])
      this.#alsoChildren(gvk);
  }

  /** The watch on the children of a kind; begun if nobody has asked for it so far. */
  #alsoChildren(gvk: Gvk): ChildWatch {
    const known = this.#children.get(gvkKey(gvk));
    if (known !== undefined) return known;
    const { plan, cluster: watcher, waker } = this.#options;
    const watch = watchChildren({
      plan,
      gvk,
      watcher,
      waker,
      resources: this.#resources,
      interests: this.#wanted,
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
      return !this.#children.has(kind) || this.#borrowed.has(kind);
    });
    this.#borrowed.retain(key, new Set(lent.map(gvkKey)));
    const informers = lent.map((gvk) => this.#alsoChildren(gvk).informer);
    const { clock } = this.#options;
    await settledSoon(informers, { clock, timeoutMs: firstLookMs, signal });
  }

  /** A resource needs no kinds any more that the definition does not name. */
  endBorrowing(key: string): void {
    this.#borrowed.retain(key, none);
  }

  /** The watches on what may be a resource's own: not those that only others need. */
  *childrenOf(key: string): Iterable<ChildWatch> {
    for (const [kind, watch] of this.#children) {
      if (!this.#borrowed.has(kind) || this.#borrowed.isFor(kind, key)) yield watch;
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

  /** @internal for {@link PassInterests} */
  namespaces(): NamespaceWatch {
    invariant(this.#namespaces !== undefined, 'No read of the plan selects namespaces');
    return this.#namespaces;
  }

  /** An object outside the children's watches, as far as a watch by name knows it already. */
  peekNamed(ref: ObjectRef): StoredObject | undefined {
    return this.#named.peek(ref);
  }

  /** Begins to note what a pass looks at. */
  startPass(key: string): PassInterests {
    return new PassInterests(key, this);
  }

  /** Starts watches on objects and gives them a short while for their first look. */
  async prepareNamed(refs: readonly ObjectRef[], signal: AbortSignal): Promise<void> {
    const informers = refs.map((ref) => this.#named.informerOf(ref));
    const { clock } = this.#options;
    await settledSoon(informers, { clock, timeoutMs: firstLookMs, signal });
  }

  /** @internal for {@link PassInterests} */
  lookAt(
    ref: ObjectRef,
    interest: { readonly key: string; readonly paths: readonly FieldPath[] },
  ): NamedObject {
    return this.#named.look(ref, interest);
  }

  /** @internal for {@link PassInterests} */
  want(topic: string, key: string): void {
    this.#wanted.set(topic, key, true);
  }

  /** @internal for {@link PassInterests} Undefined: there are too many of them to be watched. */
  watchConflict(ref: ObjectRef, key: string): NamedObject | undefined {
    const topic = topicOfRef(ref);
    const known = this.#conflicts.of(topic) !== undefined;
    if (!known && [...this.#conflicts.topics()].length >= watchedConflicts) return undefined;
    this.#conflicts.set(topic, key, true);
    return this.#named.look(ref, { key, paths: ownershipPaths });
  }

  /** @internal for {@link PassInterests} */
  retain(key: string, used: ReadonlySet<string>): void {
    this.#wanted.retain(key, used);
    this.#conflicts.retain(key, used);
    this.#named.retain(key, used);
    this.#namespaces?.retain(key, used);
  }

  /** Forgets all that a resource was interested in, but what it has borrowed: {@link Watches.endBorrowing}. */
  forget(key: string): void {
    this.retain(key, new Set());
    for (const list of this.#lists.values()) list.forget(key);
  }

  problems(): readonly WatchProblem[] {
    // What only inventories ask for, which anybody may edit, is told by the resources that have them.
    const shared = [...this.#informers()]
      .filter(([, { query }]) => !this.#isBorrowed(query))
      .map(([watching, { state }]) => ({ watching, state }));
    return [...shared, ...this.#named.problems()].flatMap(({ state, ...about }) =>
      state.kind === 'failing' ? [{ ...about, error: state.error }] : [],
    );
  }

  /** All that is watched now. */
  *informers(): Iterable<Informer> {
    for (const [, informer] of this.#informers()) yield informer;
    yield* this.#named.informers();
  }

  stop(): void {
    this.#borrowed.stop();
    if (this.#options.beside === undefined) {
      this.#resources.stop();
      for (const watch of this.#children.values()) watch.stop();
    }
    for (const list of this.#lists.values()) list.stop();
    this.#namespaces?.stop();
    this.#named.stop();
  }

  /** Nothing is left of the other former kinds: they are watched only where a resource borrows them. */
  keepFormerKinds(left: readonly Gvk[]): void {
    const { plan, formerKinds } = this.#options;
    const used = [...plan.children, ...(plan.onDelete?.children ?? [])].map(({ gvk }) => gvk);
    const kept = new Set([...used, ...left].map(gvkKey));
    for (const kind of new Set(formerKinds.map(gvkKey))) {
      if (!kept.has(kind) && !this.#borrowed.has(kind)) this.#endChildren(kind);
    }
  }

  #endChildren(kind: string): void {
    this.#children.get(kind)?.stop();
    this.#children.delete(kind);
  }

  #isBorrowed({ gvk, labelSelector }: InformerQuery): boolean {
    return labelSelector === ownerUidLabel && this.#borrowed.has(gvkKey(gvk));
  }

  *#informers(): Iterable<readonly [string, Informer]> {
    yield [`resources (${this.#options.plan.definition.kind.gvk.kind})`, this.#resources.informer];
    for (const [kind, { informer }] of this.#children) yield [`children (${kind})`, informer];
    for (const [id, { informer }] of this.#lists) yield [`reads.${id}`, informer];
    if (this.#namespaces !== undefined) yield ['namespaces', this.#namespaces.informer];
  }
}
