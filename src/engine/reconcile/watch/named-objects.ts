import type { FieldPath } from '#compile';
import type { Informer, InformerState, KindAt, RefAt, StoredObject } from '#kube/roles.ts';
import { gvkKey } from '#util/gvk.ts';
import { kindKey, topicOf, topicOfRef } from '../identity.ts';
import { type Change, differingPath, isReplaced } from './object-change.ts';
import { type EnqueuingEvent, isSharedByMany } from './resource-queue.ts';
import type { Watches, WatchProblem } from './watches.ts';

/** With more objects, one watch on the whole kind, or on all objects with the name, replaces the watches on single objects. */
const maxSingleWatches = 50;
/** At most so many of a group without the right to the watch that replaces them. */
const maxWithoutShared = 1_000;

/** How a resource uses an object. */
export interface Lookup {
  readonly topic: string;
  readonly key: string;
  /** Paths whose changes enqueue it. Creation, deletion and replacement always do. */
  readonly paths: readonly FieldPath[];
  /** Its watch may fail without a problem of the definition. @default false */
  readonly isOptional?: boolean;
}

/** Result of a lookup. */
export interface NamedObject {
  readonly state: InformerState;
  readonly stored: StoredObject | undefined;
}

/**
 * The objects of one kind in one cluster, or those of one literal name, or in one of the namespaces that a read is limited to: what the
 * definition requires rights for. They share a watch when they are many.
 */
interface Group {
  readonly gvk: KindAt;
  /** The name of all objects. @default undefined: they have several names */
  readonly name?: string;
  /** The namespace of all objects. @default undefined: they are in several namespaces */
  readonly namespace?: string;
  readonly topics: Set<string>;
  shared: Source | undefined;
  /** Number of watches on single objects. */
  singles: number;
}

interface Entry {
  readonly ref: RefAt;
  readonly group: Group;
  /** Undefined while the shared watch is to serve it. */
  single: Source | undefined;
  /** Whether a definition says that it is read. */
  isRequired: boolean;
}

interface Source {
  readonly informer: Informer;
  stop(): void;
}

/**
 * Objects that are watched by name: reads by name, and objects that conflict with a child or that it misses. Shared by all resources of a
 * definition. Each has its own watch while they are few.
 */
export class NamedObjects {
  readonly #watches: Watches;
  /** By topic. */
  readonly #entries = new Map<string, Entry>();
  /** By kind, and those of a literal name by kind and name. */
  readonly #groups = new Map<string, Group>();

  constructor(watches: Watches) {
    this.#watches = watches;
  }

  /** The informer of an object; started if needed. It is released after a delay unless a {@link lookUp} follows. */
  informerOf(ref: RefAt): Informer {
    const topic = topicOfRef(ref);
    const informer = this.#informerOf(topic, ref, true);
    this.#watches.index.releaseLater(topic);
    return informer;
  }

  /** Registers the dependency of a resource and reads, in one synchronous step. */
  lookUp(ref: RefAt, { topic, key, paths, isOptional = false }: Lookup): NamedObject {
    const informer = this.#informerOf(topic, ref, !isOptional);
    const isUnsynced = informer.state.kind !== 'synced';
    this.#watches.index.setObject(topic, key, { paths, isUnsynced });
    return { state: informer.state, stored: informer.get(ref.namespace, ref.name) };
  }

  /** The object in an existing watch. Starts none. */
  peek(ref: RefAt): StoredObject | undefined {
    const entry = this.#entries.get(topicOfRef(ref));
    const source = entry?.single ?? entry?.group.shared;
    return source?.informer.get(ref.namespace, ref.name);
  }

  has(topic: string): boolean {
    return this.#entries.has(topic);
  }

  /** Stops the watch on one object, and the shared watch with the last object of its group. */
  release(topic: string): void {
    const entry = this.#entries.get(topic);
    if (entry === undefined) return;
    const { ref, group } = entry;
    stopSingle(entry);
    this.#entries.delete(topic);
    group.topics.delete(topic);
    if (group.topics.size > 0) return;
    group.shared?.stop();
    this.#groups.delete(this.#groupKeyOf(ref));
  }

  /** The watches that fail. Those of other clusters are reported by the resources that read them. */
  *problems(): Iterable<WatchProblem> {
    for (const { ref, group, single, isRequired } of this.#entries.values()) {
      const state = single?.informer.state;
      const { gvk, name, isPrivate } = ref;
      if (!isRequired || state?.kind !== 'failing' || gvk.cluster !== undefined) continue;
      const watching = isPrivate === true ? `a ${gvk.kind}` : `${gvk.kind} "${name}"`;
      yield { watching, error: state.error, literalName: group.name };
    }
  }

  stop(): void {
    for (const topic of [...this.#entries.keys()]) this.release(topic);
  }

  /** Starts the watch on an object, unless it exists. */
  #informerOf(topic: string, ref: RefAt, isRequired: boolean): Informer {
    const entry = this.#entries.get(topic) ?? this.#add(topic, ref);
    if (isRequired) entry.isRequired = true;
    const { group } = entry;
    if (group.topics.size > maxSingleWatches) group.shared ??= this.#watchAll(group);
    const { shared } = group;
    if (entry.single === undefined && shared !== undefined && isEnough(shared, group))
      return shared.informer;
    // The shared watch may never sync: listing a kind requires more rights than reading single objects.
    if (shared?.informer.state.kind === 'synced') return shared.informer;
    if (entry.single === undefined) {
      entry.single = this.#watchOne(topic, ref);
      group.singles += 1;
    }
    return entry.single.informer;
  }

  #add(topic: string, ref: RefAt): Entry {
    const key = this.#groupKeyOf(ref);
    const group = this.#groups.get(key) ?? {
      gvk: ref.gvk,
      ...this.#limitsOf(ref),
      topics: new Set(),
      shared: undefined,
      singles: 0,
    };
    this.#groups.set(key, group);
    group.topics.add(topic);
    const entry = { ref, group, single: undefined, isRequired: false };
    this.#entries.set(topic, entry);
    return entry;
  }

  #groupKeyOf(ref: RefAt): string {
    const { name = '', namespace = '' } = this.#limitsOf(ref);
    return `${kindKey(ref.gvk)}|${namespace}|${name}`;
  }

  /** Reads of one literal name need no right on other names, and those in named namespaces none in others. */
  #limitsOf({ gvk, name, namespace }: RefAt): Pick<Group, 'name' | 'namespace'> {
    const reads = this.#watches.plan.reads.filter((read) => gvkKey(read.gvk) === gvkKey(gvk));
    const isNamed = reads.some(({ literalNames }) => literalNames?.includes(name) === true);
    const hasNamespace =
      namespace !== undefined &&
      reads.some(({ namespaces }) => namespaces?.includes(namespace) === true);
    return { ...(isNamed && { name }), ...(hasNamespace && { namespace }) };
  }

  #watchOne(topic: string, { gvk, namespace, name, isPrivate }: RefAt): Source {
    const informer = this.#watches.cluster.acquire({
      gvk,
      ...(namespace === undefined ? {} : { namespace }),
      fieldSelector: selectorOf(name),
      ...(isPrivate && { isPrivate }),
    });
    return this.#listen(gvk, informer, () => this.#onState(topic));
  }

  #watchAll(group: Group): Source {
    const { gvk, name, namespace } = group;
    const informer = this.#watches.cluster.acquire({
      gvk,
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { fieldSelector: selectorOf(name) }),
    });
    return this.#listen(gvk, informer, ({ kind }) => {
      if (kind === 'synced') this.#takeOver(group, informer);
      // Those that waited for it are read by watches of their own.
      else for (const topic of group.topics) this.#onStateWithout(topic);
    });
  }

  #listen(gvk: KindAt, informer: Informer, onState: (state: InformerState) => void): Source {
    const stops = [
      informer.onState(onState),
      informer.subscribe((event) => {
        const namespace = event.namespace === '' ? undefined : event.namespace;
        this.#onChange(topicOf(gvk, namespace, event.name), event);
      }),
    ];
    return {
      informer,
      stop() {
        for (const stop of stops) stop();
        informer.release();
      },
    };
  }

  #takeOver({ topics }: Group, wide: Informer): void {
    for (const topic of topics) {
      const entry = this.#entries.get(topic);
      if (entry?.single === undefined) {
        this.#onState(topic);
        continue;
      }
      const { single, ref } = entry;
      const old = single.informer.get(ref.namespace, ref.name);
      const current = wide.get(ref.namespace, ref.name);
      stopSingle(entry);
      this.#onState(topic);
      // A change that the shared list contains first is never delivered by the stopped watch.
      this.#onChange(topic, { old, current, initial: false });
    }
  }

  #onChange(topic: string, change: Change & EnqueuingEvent): void {
    // The first list changes the informer's state, which enqueues the resources that continued without it.
    if (change.initial) return;
    const { index, queue } = this.#watches;
    const dependencies = index.of(topic);
    if (dependencies === undefined) return;
    const isShared = isSharedByMany(dependencies);
    for (const [key, dependency] of dependencies) {
      if (dependency.kind !== 'object' || dependency.paths === undefined) continue;
      const isSeen =
        isReplaced(change) ||
        differingPath(change.old?.object, change.current?.object, dependency.paths) !== undefined;
      if (isSeen) queue.enqueueFor(key, change, isShared);
    }
  }

  #onStateWithout(topic: string): void {
    if (this.#entries.get(topic)?.single === undefined) this.#onState(topic);
  }

  /** The state of the watch on this object has changed. */
  #onState(topic: string): void {
    const { index, queue } = this.#watches;
    for (const [key, dependency] of index.of(topic) ?? []) {
      if (dependency.kind === 'object' && dependency.isUnsynced)
        queue.enqueue(key, 'normal', 'watch');
    }
  }
}

function stopSingle(entry: Entry): void {
  if (entry.single === undefined) return;
  entry.single.stop();
  entry.single = undefined;
  entry.group.singles -= 1;
}

/** Whether an object without a watch of its own needs none: the shared one is about to list it, or there are too many. */
function isEnough({ informer }: Source, { singles }: Group): boolean {
  return informer.state.kind === 'waiting' || singles >= maxWithoutShared;
}

/** RBAC treats this selector as the object's name: the right on that object is sufficient. */
function selectorOf(name: string): string {
  return `metadata.name=${name}`;
}
