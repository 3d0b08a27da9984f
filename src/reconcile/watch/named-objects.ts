import type { FieldPath, ReadPlan } from '../../compile/index.ts';
import type {
  Informer,
  InformerState,
  ObjectRef,
  StoredObject,
  Watcher,
} from '../../kube/roles.ts';
import { gvkKey } from '../../util/gvk.ts';
import { topicOfRef } from '../identity.ts';
import type { DependencyIndex } from './dependency-index.ts';
import { NamedKind, type NamedProblem } from './named-kind.ts';
import type { ResourceQueue } from './resource-queue.ts';

interface NamedObjectsOptions {
  readonly watcher: Watcher;
  readonly queue: ResourceQueue;
  readonly index: DependencyIndex;
  /** Reads of the plan. Reads of one literal name need no right on other names, in any number of namespaces. */
  readonly reads: readonly Pick<ReadPlan, 'gvk' | 'literalName'>[];
}

/** How a resource uses an object. */
export interface Lookup {
  readonly topic: string;
  readonly key: string;
  /** Paths whose changes enqueue it. Creation, deletion and replacement always do. */
  readonly paths: readonly FieldPath[];
}

/** Result of a lookup. */
export interface NamedObject {
  readonly state: InformerState;
  readonly stored: StoredObject | undefined;
}

/**
 * Objects that are watched by name: reads by name, and objects that conflict with a child. Shared by all resources of a
 * definition.
 */
export class NamedObjects {
  readonly #options: NamedObjectsOptions;
  /** By kind, and those of a literal name by kind and name. */
  readonly #kinds = new Map<string, NamedKind>();

  constructor(options: NamedObjectsOptions) {
    this.#options = options;
  }

  /** The informer of an object; started if needed. It is released after a delay unless a {@link lookUp} follows. */
  informerOf(ref: ObjectRef): Informer {
    const topic = topicOfRef(ref);
    const informer = this.#kindOf(ref).informerOf(topic, ref);
    this.#options.index.releaseLater(topic);
    return informer;
  }

  /** Registers the dependency of a resource and reads, in one synchronous step. */
  lookUp(ref: ObjectRef, { topic, key, paths }: Lookup): NamedObject {
    const informer = this.#kindOf(ref).informerOf(topic, ref);
    const isUnsynced = informer.state.kind !== 'synced';
    this.#options.index.setObject(topic, key, { paths, isUnsynced });
    return { state: informer.state, stored: informer.get(ref.namespace, ref.name) };
  }

  /** The object in an existing watch. Starts none. */
  peek(ref: ObjectRef): StoredObject | undefined {
    return this.#kinds.get(this.#groupOf(ref).key)?.peek(topicOfRef(ref));
  }

  has(topic: string): boolean {
    return this.#kinds.values().some((kind) => kind.has(topic));
  }

  /** Stops the watch on an object. */
  release(topic: string): void {
    for (const [key, kind] of this.#kinds) {
      if (!kind.has(topic)) continue;
      kind.release(topic);
      if (kind.isEmpty) this.#kinds.delete(key);
    }
  }

  problems(): readonly NamedProblem[] {
    return [...this.#kinds.values()].flatMap((kind) => [...kind.problems()]);
  }

  stop(): void {
    for (const kind of this.#kinds.values()) kind.stop();
    this.#kinds.clear();
  }

  #groupOf({ gvk, name, cluster }: ObjectRef): {
    readonly key: string;
    readonly name?: string;
    readonly cluster?: string;
  } {
    if (cluster !== undefined) return { key: `${cluster}:${gvkKey(gvk)}`, cluster };
    const key = gvkKey(gvk);
    const isLiteral = this.#options.reads.some(
      (read) => read.literalName === name && gvkKey(read.gvk) === key,
    );
    return isLiteral ? { key: `${key}|${name}`, name } : { key };
  }

  #kindOf(ref: ObjectRef): NamedKind {
    const { key, ...named } = this.#groupOf(ref);
    const known = this.#kinds.get(key);
    if (known !== undefined) return known;
    const { watcher, queue, index } = this.#options;
    const kind = new NamedKind({ gvk: ref.gvk, ...named, watcher, queue, index });
    this.#kinds.set(key, kind);
    return kind;
  }
}
