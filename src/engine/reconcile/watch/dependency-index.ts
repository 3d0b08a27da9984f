import type { FieldPath, ReadPlan } from '#compile';
import type { RefAt, StoredObject } from '#kube/roles.ts';
import type { Clock } from '#util/clock.ts';
import type { LabelSelector } from '#util/label-selector.ts';
import { topicOfRef } from '../identity.ts';
import type { NamedObject } from './named-objects.ts';
import type { ListRequest, SelectedNamespaces } from './selections.ts';
import type { Watches } from './watches.ts';

/** How a resource depends on a topic, which determines the changes that enqueue it. */
export type Dependency =
  | ObjectDependency
  | SelectionDependency
  /** On the children of a kind that only the resource's inventory names. It lasts until it is released, not for one reconcile. */
  | { readonly kind: 'kind' }
  /** On another cluster: every change of its state counts. */
  | { readonly kind: 'cluster' };

/** On one object. */
interface ObjectDependency {
  readonly kind: 'object';
  /** It is a desired child that the resource does not own (yet): every event of the child watch counts. */
  readonly isDesired: boolean;
  /** Paths whose changes count. Creation, deletion and replacement always count. Undefined: it is not watched by name. */
  readonly paths: readonly FieldPath[] | undefined;
  /** The informer had not synced: every change of its state counts. */
  readonly isUnsynced: boolean;
}

/** On the objects or namespaces that a selector selects. */
interface SelectionDependency {
  readonly kind: 'selection';
  readonly selector: LabelSelector;
  /** Whether objects in this namespace count. */
  readonly has: (namespace: string) => boolean;
}

/** The topic of another cluster. */
export function clusterTopic(cluster: string): string {
  return `${clusterPrefix}${cluster}`;
}

/** Start of a {@link clusterTopic}. */
export const clusterPrefix = 'cluster ';

/** Delay before an unused watch is stopped: edits often remove and restore a name or kind. */
const releaseDelayMs = 60_000;

/**
 * Index of dependencies: topics (an object, a selection, a kind) and the resources that depend on them. Reconciles register dependencies,
 * event handlers query them. The dependencies of a resource are removed with it.
 */
export class DependencyIndex {
  readonly #clock: Clock;
  readonly #onUnused: (topic: string) => (() => void) | undefined;
  readonly #byTopic = new Map<string, Map<string, Dependency>>();
  readonly #byKey = new Map<string, Set<string>>();
  /** By topic, cancels the pending release. */
  readonly #lingering = new Map<string, () => void>();

  /**
   * `onUnused`: called when no resource depends on a topic any more. The function that it returns is called after a delay, unless a
   * resource depends on the topic again.
   */
  constructor(clock: Clock, onUnused: (topic: string) => (() => void) | undefined) {
    this.#clock = clock;
    this.#onUnused = onUnused;
  }

  /** Registers or replaces the dependency of a resource on a topic. */
  set(topic: string, key: string, dependency: Dependency): void {
    this.#keep(topic);
    entryOf(this.#byTopic, topic, () => new Map<string, Dependency>()).set(key, dependency);
    entryOf(this.#byKey, key, () => new Set<string>()).add(topic);
  }

  /** Extends the dependency of a resource on an object: a desired child may also be read. */
  setObject(topic: string, key: string, added: Partial<Omit<ObjectDependency, 'kind'>>): void {
    const known = this.objectOf(topic, key);
    const {
      isDesired = known?.isDesired ?? false,
      paths,
      isUnsynced = known?.isUnsynced ?? false,
    } = added;
    const both = known?.paths === undefined ? paths : union(known.paths, paths);
    this.set(topic, key, { kind: 'object', isDesired, paths: both, isUnsynced });
  }

  /** The resources that depend on a topic. */
  of(topic: string): ReadonlyMap<string, Dependency> | undefined {
    return this.#byTopic.get(topic);
  }

  /** The topics in use that begin with this text. */
  *topicsWith(prefix: string): Iterable<string> {
    for (const topic of this.#byTopic.keys()) if (topic.startsWith(prefix)) yield topic;
  }

  objectOf(topic: string, key: string): ObjectDependency | undefined {
    const dependency = this.#byTopic.get(topic)?.get(key);
    return dependency?.kind === 'object' ? dependency : undefined;
  }

  /** Whether a resource depends on the topic, or did within the release delay. */
  isUsed(topic: string): boolean {
    return this.#byTopic.has(topic) || this.#lingering.has(topic);
  }

  /** After a reconcile: removes dependencies on other objects and selections than these. */
  retain(key: string, used: ReadonlySet<string>): void {
    this.#retain(key, used, false);
  }

  /** Removes dependencies on other kinds than these. */
  retainKinds(key: string, used: ReadonlySet<string>): void {
    this.#retain(key, used, true);
  }

  /** Releases a topic after a delay, unless a resource depends on it by then. */
  releaseLater(topic: string): void {
    if (this.#byTopic.has(topic)) return;
    this.#keep(topic);
    const end = this.#onUnused(topic);
    if (end === undefined) return;
    const ended = () => {
      this.#lingering.delete(topic);
      end();
    };
    this.#lingering.set(topic, this.#clock.after(releaseDelayMs, ended));
  }

  stop(): void {
    for (const cancel of this.#lingering.values()) cancel();
    this.#lingering.clear();
  }

  /** `areKinds`: whether those on kinds are meant, or all others. */
  #retain(key: string, used: ReadonlySet<string>, areKinds: boolean): void {
    const topics = this.#byKey.get(key);
    if (topics === undefined) return;
    for (const topic of topics) {
      if (used.has(topic)) continue;
      const keys = this.#byTopic.get(topic);
      const dependency = keys?.get(key);
      if (dependency !== undefined && (dependency.kind === 'kind') !== areKinds) continue;
      topics.delete(topic);
      keys?.delete(key);
      if (keys?.size !== 0) continue;
      this.#byTopic.delete(topic);
      this.releaseLater(topic);
    }
    if (topics.size === 0) this.#byKey.delete(key);
  }

  #keep(topic: string): void {
    if (this.#lingering.size === 0) return;
    this.#lingering.get(topic)?.();
    this.#lingering.delete(topic);
  }
}

function union(
  known: readonly FieldPath[],
  added: readonly FieldPath[] | undefined,
): readonly FieldPath[] {
  const isKnown = added === undefined || added.every((path) => known.includes(path));
  return isKnown ? known : [...new Set([...known, ...added])];
}

function entryOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** The reads of one reconcile. A dependency is registered and the cache read in one synchronous step. */
export class PassDependencies {
  readonly key: string;
  readonly #watches: Watches;
  /** The topics that it uses. */
  readonly used = new Set<string>();

  constructor(key: string, watches: Watches) {
    this.key = key;
    this.#watches = watches;
  }

  /** An object by name. */
  named(ref: RefAt, paths: readonly FieldPath[]): NamedObject {
    const topic = topicOfRef(ref);
    this.used.add(topic);
    return this.#watches.named.lookUp(ref, { topic, key: this.key, paths });
  }

  /** The objects that a selector of the resource selects. */
  selected(read: ReadPlan, request: ListRequest, cluster?: string): readonly StoredObject[] {
    return this.#watches.list(read.id, cluster).read(request, this);
  }

  /** The namespaces that a selector selects. */
  namespaces(selector: LabelSelector): SelectedNamespaces {
    return this.#watches.namespaces.select(selector, this);
  }

  /** A child that the resource does not own yet: every change of it enqueues the resource. */
  desiredChild(ref: RefAt): void {
    const topic = topicOfRef(ref);
    this.used.add(topic);
    this.#watches.index.setObject(topic, this.key, { isDesired: true });
  }

  /** An object with another owner that has the name of a child. Undefined: too many are watched already. */
  conflict(ref: RefAt): NamedObject | undefined {
    const topic = topicOfRef(ref);
    this.used.add(topic);
    return this.#watches.watchConflict(ref, { topic, key: this.key });
  }

  /** An object whose absence makes a request fail. Undefined: too many are watched already. */
  missing(ref: RefAt): NamedObject | undefined {
    const topic = topicOfRef(ref);
    this.used.add(topic);
    return this.#watches.watchMissing(ref, { topic, key: this.key });
  }

  /** Another cluster: its connection and its object of kind `Cluster`. */
  cluster(cluster: string): void {
    const topic = clusterTopic(cluster);
    this.used.add(topic);
    this.#watches.index.set(topic, this.key, { kind: 'cluster' });
  }

  /** Ends the reconcile: dependencies that it did not register are removed. */
  finish(): void {
    this.#watches.index.retain(this.key, this.used);
  }
}
