import type { FieldPath } from '../../compile/index.ts';
import type { Informer, InformerState, ObjectRef, StoredObject } from '../../kube/roles.ts';
import { type Gvk, gvkKey } from '../../util/gvk.ts';
import { topicOf, topicOfRef } from '../identity.ts';
import { type Change, differingPath, isReplaced } from './object-change.ts';
import { type EnqueuingEvent, isSharedByMany } from './resource-queue.ts';
import type { Watches, WatchProblem } from './watches.ts';

/** With more objects, one watch on the whole kind, or on all objects with the name, replaces the watches on single objects. */
const maxSingleWatches = 50;

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

/** The objects of one kind in one cluster, or those of one literal name: they share a watch when they are many. */
interface Group {
  readonly gvk: Gvk;
  /** The name of all objects. @default undefined: they have several names */
  readonly name?: string;
  readonly topics: Set<string>;
  shared: Source | undefined;
}

interface Entry {
  readonly ref: ObjectRef;
  readonly group: Group;
  /** Undefined after the shared watch has replaced it. */
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
  informerOf(ref: ObjectRef): Informer {
    const topic = topicOfRef(ref);
    const informer = this.#informerOf(topic, ref, true);
    this.#watches.index.releaseLater(topic);
    return informer;
  }

  /** Registers the dependency of a resource and reads, in one synchronous step. */
  lookUp(ref: ObjectRef, { topic, key, paths, isOptional = false }: Lookup): NamedObject {
    const informer = this.#informerOf(topic, ref, !isOptional);
    const isUnsynced = informer.state.kind !== 'synced';
    this.#watches.index.setObject(topic, key, { paths, isUnsynced });
    return { state: informer.state, stored: informer.get(ref.namespace, ref.name) };
  }

  /** The object in an existing watch. Starts none. */
  peek(ref: ObjectRef): StoredObject | undefined {
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
    const { ref, group, single } = entry;
    single?.stop();
    this.#entries.delete(topic);
    group.topics.delete(topic);
    if (group.topics.size > 0) return;
    group.shared?.stop();
    this.#groups.delete(this.#groupKeyOf(ref));
  }

  /** The watches that fail. Those of members are reported by the resources that read them. */
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
  #informerOf(topic: string, ref: ObjectRef, isRequired: boolean): Informer {
    const entry = this.#entries.get(topic) ?? this.#add(topic, ref);
    if (isRequired) entry.isRequired = true;
    const { group } = entry;
    if (group.topics.size > maxSingleWatches) group.shared ??= this.#watchAll(group);
    // The shared watch may never sync: listing a kind requires more rights than reading single objects.
    if (group.shared?.informer.state.kind === 'synced') return group.shared.informer;
    entry.single ??= this.#watchOne(topic, ref);
    return entry.single.informer;
  }

  #add(topic: string, ref: ObjectRef): Entry {
    const key = this.#groupKeyOf(ref);
    const { gvk, name } = ref;
    const group = this.#groups.get(key) ?? {
      gvk,
      ...(this.#isLiteral(ref) && { name }),
      topics: new Set(),
      shared: undefined,
    };
    this.#groups.set(key, group);
    group.topics.add(topic);
    const entry = { ref, group, single: undefined, isRequired: false };
    this.#entries.set(topic, entry);
    return entry;
  }

  #groupKeyOf(ref: ObjectRef): string {
    const { gvk, name } = ref;
    return this.#isLiteral(ref) ? `${gvkKey(gvk)}|${name}` : gvkKey(gvk);
  }

  /** Reads of one literal name need no right on other names, in any number of namespaces. */
  #isLiteral({ gvk, name }: ObjectRef): boolean {
    return this.#watches.plan.reads.some(
      (read) => read.literalName === name && gvkKey(read.gvk) === gvkKey(gvk),
    );
  }

  #watchOne(topic: string, { gvk, namespace, name, isPrivate }: ObjectRef): Source {
    const informer = this.#watches.cluster.acquire({
      gvk,
      ...(namespace === undefined ? {} : { namespace }),
      fieldSelector: selectorOf(name),
      ...(isPrivate && { isPrivate }),
    });
    return this.#listen(informer, () => this.#onState(topic));
  }

  #watchAll(group: Group): Source {
    const { gvk, name } = group;
    const informer = this.#watches.cluster.acquire({
      gvk,
      ...(name === undefined ? {} : { fieldSelector: selectorOf(name) }),
    });
    return this.#listen(informer, ({ kind }) => {
      if (kind === 'synced') this.#takeOver(group, informer);
    });
  }

  #listen(informer: Informer, onState: (state: InformerState) => void): Source {
    const { gvk } = informer.query;
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
      if (entry?.single === undefined) continue;
      const { single, ref } = entry;
      const old = single.informer.get(ref.namespace, ref.name);
      const current = wide.get(ref.namespace, ref.name);
      single.stop();
      entry.single = undefined;
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

  /** The state of the watch on this object has changed. */
  #onState(topic: string): void {
    const { index, queue } = this.#watches;
    for (const [key, dependency] of index.of(topic) ?? []) {
      if (dependency.kind === 'object' && dependency.isUnsynced)
        queue.enqueue(key, 'normal', 'watch');
    }
  }
}

/** RBAC treats this selector as the object's name: the right on that object is sufficient. */
function selectorOf(name: string): string {
  return `metadata.name=${name}`;
}
