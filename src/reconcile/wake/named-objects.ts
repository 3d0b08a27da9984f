import type { FieldPath, ReadPlan } from '../../compile/index.ts';
import type {
  Informer,
  InformerState,
  ObjectRef,
  StoredObject,
  Watcher,
} from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { gvkKey } from '../../util/gvk.ts';
import { topicOf } from './child-watch.ts';
import { differingPath } from './field-values.ts';
import { InterestTable } from './interest-table.ts';
import { type NamedChange, NamedKind, type NamedProblem } from './named-kind.ts';
import { isReplaced } from './object-change.ts';
import { isSharedByMany } from './shared-by-many.ts';
import { type Waker, wakeFor } from './waker.ts';

/** A watch that nobody uses any more ends after this time: names come and go with edits. */
const lingerMs = 60_000;

export interface NamedObjectsOptions {
  readonly watcher: Watcher;
  readonly clock: Clock;
  readonly waker: Waker;
  /** Reads of the plan. Those that all look for one name need no right on others, however many namespaces it is in. */
  readonly reads: readonly Pick<ReadPlan, 'gvk' | 'literalName'>[];
}

/** How a resource looks at an object. */
interface Look {
  /** Paths whose change wakes it. Coming, going and replacement always do. */
  readonly paths: readonly FieldPath[];
  /** It had to do without: any news of the informer's state wakes it. */
  readonly unsynced: boolean;
}

/** What a look found. */
export interface NamedObject {
  readonly state: InformerState;
  readonly stored: StoredObject | undefined;
}

/**
 * Objects that are watched by name: reads by name, and what stands in the way of a child. Shared by all resources of a
 * definition.
 */
export class NamedObjects {
  readonly #options: NamedObjectsOptions;
  /** By kind, and those of a literal name by kind and name. */
  readonly #kinds = new Map<string, NamedKind>();
  readonly #looks = new InterestTable<Look>();
  /** Watches that will end, by topic, with how to keep them. */
  readonly #lingering = new Map<string, () => void>();

  constructor(options: NamedObjectsOptions) {
    this.#options = options;
  }

  /** The informer that knows an object; started if need be. It ends after a while unless a {@link look} follows. */
  informerOf(ref: ObjectRef): Informer {
    const topic = topicOfRef(ref);
    const informer = this.#kindOf(ref).informerOf(topic, ref);
    if (this.#looks.of(topic) === undefined) this.#linger(topic);
    return informer;
  }

  /** Registers the interest of a resource and reads, in one synchronous step. */
  look(
    ref: ObjectRef,
    { key, paths }: { readonly key: string; readonly paths: readonly FieldPath[] },
  ): NamedObject {
    const topic = topicOfRef(ref);
    const informer = this.#kindOf(ref).informerOf(topic, ref);
    this.#keep(topic);
    const known = this.#looks.of(topic)?.get(key)?.paths ?? [];
    const unsynced = informer.state.kind !== 'synced';
    this.#looks.set(topic, key, { paths: [...new Set([...known, ...paths])], unsynced });
    return { state: informer.state, stored: informer.get(ref.namespace, ref.name) };
  }

  /** The object as a watch that runs already knows it; starts none. */
  peek(ref: ObjectRef): StoredObject | undefined {
    return this.#kinds.get(this.#groupOf(ref).key)?.peek(topicOfRef(ref));
  }

  /** A resource uses these objects and no others any more. */
  retain(key: string, used: ReadonlySet<string>): void {
    for (const topic of this.#looks.retain(key, used)) this.#linger(topic);
  }

  problems(): readonly NamedProblem[] {
    return [...this.#kinds.values()].flatMap((kind) => [...kind.problems()]);
  }

  *informers(): Iterable<Informer> {
    for (const kind of this.#kinds.values()) yield* kind.informers();
  }

  stop(): void {
    for (const cancel of this.#lingering.values()) cancel();
    this.#lingering.clear();
    for (const kind of this.#kinds.values()) kind.stop();
    this.#kinds.clear();
  }

  #groupOf({ gvk, name }: ObjectRef): { readonly key: string; readonly name?: string } {
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
    const kind = new NamedKind({
      gvk: ref.gvk,
      ...named,
      watcher: this.#options.watcher,
      onChange: (topic, change) => this.#onChange(topic, change),
      onState: (topic) => this.#wakeUnsynced(topic),
    });
    this.#kinds.set(key, kind);
    return kind;
  }

  #onChange(topic: string, change: NamedChange): void {
    // The first list is news of the state: those who did without are woken by it.
    if (change.initial) return;
    const looks = this.#looks.of(topic);
    if (looks === undefined) return;
    const { waker } = this.#options;
    for (const [key, { paths }] of looks) {
      const isSeen =
        isReplaced(change) ||
        differingPath(change.old?.object, change.current?.object, paths) !== undefined;
      if (isSeen) wakeFor(waker, key, { event: change, shared: isSharedByMany(looks) });
    }
  }

  #wakeUnsynced(topic: string): void {
    for (const [key, { unsynced }] of this.#looks.of(topic) ?? []) {
      if (unsynced) this.#options.waker.wake(key, 'normal');
    }
  }

  #keep(topic: string): void {
    this.#lingering.get(topic)?.();
    this.#lingering.delete(topic);
  }

  #linger(topic: string): void {
    this.#keep(topic);
    const end = () => {
      this.#lingering.delete(topic);
      for (const [key, kind] of this.#kinds) {
        if (!kind.has(topic)) continue;
        kind.release(topic);
        if (kind.isEmpty) this.#kinds.delete(key);
      }
    };
    this.#lingering.set(topic, this.#options.clock.after(lingerMs, end));
  }
}

/** The topic of an object, as {@link NamedObjects.retain} wants it. */
export function topicOfRef({ gvk, namespace, name }: ObjectRef): string {
  return topicOf(gvk, namespace, name);
}
