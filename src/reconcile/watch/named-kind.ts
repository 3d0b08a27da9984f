import type {
  Informer,
  InformerState,
  ObjectRef,
  StoredObject,
  Watcher,
} from '../../kube/roles.ts';
import type { Gvk } from '../../util/gvk.ts';
import { topicOf } from '../identity.ts';
import type { DependencyIndex } from './dependency-index.ts';
import { type Change, differingPath, isReplaced } from './object-change.ts';
import { type EnqueuingEvent, isSharedByMany, type ResourceQueue } from './resource-queue.ts';

/** With more objects, one watch on the whole kind, or on all objects with the name, replaces the watches on single objects. */
const maxSingleWatches = 50;

interface NamedKindOptions {
  readonly gvk: Gvk;
  /** The name of all objects. @default undefined: they have several names */
  readonly name?: string;
  /** The member cluster. @default undefined: the cluster of the resources */
  readonly cluster?: string;
  readonly watcher: Watcher;
  readonly queue: ResourceQueue;
  readonly index: DependencyIndex;
}

/** A watch on an object that fails. */
export interface NamedProblem {
  readonly watching: string;
  readonly state: InformerState;
  /** The name, if all watched objects have it. */
  readonly literalName: string | undefined;
}

interface Entry {
  readonly ref: ObjectRef;
  /** Undefined after the shared watch has replaced it. */
  single: Source | undefined;
}

interface Source {
  readonly informer: Informer;
  stop(): void;
}

/** Objects of one kind that are watched by name: each with its own watch while they are few, with one shared watch when they are many. */
export class NamedKind {
  readonly #options: NamedKindOptions;
  readonly #entries = new Map<string, Entry>();
  #shared: Source | undefined;

  constructor(options: NamedKindOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  has(topic: string): boolean {
    return this.#entries.has(topic);
  }

  /** Starts the watch on an object, unless it exists. */
  informerOf(topic: string, ref: ObjectRef): Informer {
    const entry = this.#entries.get(topic) ?? { ref, single: undefined };
    this.#entries.set(topic, entry);
    if (this.#entries.size > maxSingleWatches) this.#shared ??= this.#watchAll();
    // The shared watch may never sync: listing a kind requires more rights than reading single objects.
    if (this.#shared?.informer.state.kind === 'synced') return this.#shared.informer;
    entry.single ??= this.#watchOne(topic, ref);
    return entry.single.informer;
  }

  /** The cached object. Starts no watch. */
  peek(topic: string): StoredObject | undefined {
    const entry = this.#entries.get(topic);
    if (entry === undefined) return undefined;
    const source = entry.single ?? this.#shared;
    return source?.informer.get(entry.ref.namespace, entry.ref.name);
  }

  /** Stops the watch on one object, and the shared watch with the last object. */
  release(topic: string): void {
    this.#entries.get(topic)?.single?.stop();
    this.#entries.delete(topic);
    if (!this.isEmpty) return;
    this.#shared?.stop();
    this.#shared = undefined;
  }

  *problems(): Iterable<NamedProblem> {
    const literalName = this.#options.name;
    for (const { ref, single } of this.#entries.values()) {
      // Those of members are reported by the resources that read them.
      if (single?.informer.state.kind !== 'failing' || ref.cluster !== undefined) continue;
      const { gvk, name, isPrivate } = ref;
      const watching = isPrivate === true ? `a ${gvk.kind}` : `${gvk.kind} "${name}"`;
      yield { watching, state: single.informer.state, literalName };
    }
  }

  stop(): void {
    for (const topic of [...this.#entries.keys()]) this.release(topic);
  }

  #watchOne(topic: string, { gvk, namespace, name, isPrivate, cluster }: ObjectRef): Source {
    const informer = this.#options.watcher.acquire({
      gvk,
      ...(namespace === undefined ? {} : { namespace }),
      fieldSelector: selectorOf(name),
      ...(isPrivate && { isPrivate }),
      ...(cluster === undefined ? {} : { cluster }),
    });
    return this.#listen(
      informer,
      informer.onState(() => this.#onState(topic)),
    );
  }

  #watchAll(): Source {
    const { gvk, name, cluster, watcher } = this.#options;
    const informer = watcher.acquire({
      gvk,
      ...(cluster === undefined ? {} : { cluster }),
      ...(name === undefined ? {} : { fieldSelector: selectorOf(name) }),
    });
    return this.#listen(
      informer,
      informer.onState(({ kind }) => {
        if (kind === 'synced') this.#takeOver(informer);
      }),
    );
  }

  #takeOver(wide: Informer): void {
    for (const [topic, entry] of this.#entries) {
      const { single, ref } = entry;
      if (single === undefined) continue;
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
    const { index, queue } = this.#options;
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
    const { index, queue } = this.#options;
    for (const [key, dependency] of index.of(topic) ?? []) {
      if (dependency.kind === 'object' && dependency.isUnsynced)
        queue.enqueue(key, 'normal', 'watch');
    }
  }

  #listen(informer: Informer, unobserve: () => void): Source {
    const unsubscribe = informer.subscribe((event) => {
      const namespace = event.namespace === '' ? undefined : event.namespace;
      const { gvk, cluster } = this.#options;
      this.#onChange(topicOf(gvk, namespace, event.name, cluster), event);
    });
    return {
      informer,
      stop() {
        unsubscribe();
        unobserve();
        informer.release();
      },
    };
  }
}

/** RBAC treats this selector as the object's name: the right on that object is sufficient. */
function selectorOf(name: string): string {
  return `metadata.name=${name}`;
}
