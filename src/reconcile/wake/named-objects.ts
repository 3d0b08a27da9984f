import type { FieldPath } from '../../compile/index.ts';
import type {
  CacheEvent,
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
import { isReplaced } from './object-change.ts';
import { type Waker, wakeFor } from './waker.ts';

/** From so many names of a kind on, one watch of the whole kind replaces the watches of single objects. */
const singleWatches = 50;
/** A watch that nobody uses any more ends after this time: names come and go with edits. */
const lingerMs = 60_000;
/** From so many resources on, an object that all of them read wakes them with low priority. */
const sharedByMany = 100;

export interface NamedObjectsOptions {
  readonly watcher: Watcher;
  readonly clock: Clock;
  readonly waker: Waker;
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

interface Entry {
  readonly ref: ObjectRef;
  /** Undefined once the watch of the whole kind has taken over. */
  single: Source | undefined;
}

interface Source {
  readonly informer: Informer;
  stop(): void;
}

/** Objects that are watched by name: reads by name, and what stands in the way of a child. Shared by all resources of a definition. */
export class NamedObjects {
  readonly #options: NamedObjectsOptions;
  readonly #entries = new Map<string, Entry>();
  /** Watches of whole kinds, by kind. */
  readonly #wide = new Map<string, Source>();
  readonly #looks = new InterestTable<Look>();
  readonly #lingering = new Map<string, () => void>();

  constructor(options: NamedObjectsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The informer that knows an object; started if need be. Kept only if a {@link look} follows. */
  informerOf(ref: ObjectRef): Informer {
    const topic = topicOfRef(ref);
    this.#keep(topic);
    const wide = this.#wide.get(gvkKey(ref.gvk));
    if (wide?.informer.state.kind === 'synced') {
      if (!this.#entries.has(topic)) this.#entries.set(topic, { ref, single: undefined });
      return wide.informer;
    }
    const entry = this.#entries.get(topic) ?? this.#start(topic, ref);
    entry.single ??= this.#watchOne(entry.ref);
    return entry.single.informer;
  }

  /** Registers the interest of a resource and reads, in one synchronous step. */
  look(
    ref: ObjectRef,
    { key, paths }: { readonly key: string; readonly paths: readonly FieldPath[] },
  ): NamedObject {
    const informer = this.informerOf(ref);
    const topic = topicOfRef(ref);
    const known = this.#looks.of(topic)?.get(key);
    const unsynced = informer.state.kind !== 'synced';
    this.#looks.set(topic, key, {
      paths: [...new Set([...(known?.paths ?? []), ...paths])],
      unsynced,
    });
    return { state: informer.state, stored: informer.get(ref.namespace, ref.name) };
  }

  /** The object as a watch that runs already knows it; starts none. */
  peek(ref: ObjectRef): StoredObject | undefined {
    const entry = this.#entries.get(topicOfRef(ref));
    if (entry === undefined) return undefined;
    const { informer } = entry.single ?? this.#wide.get(gvkKey(ref.gvk)) ?? {};
    return informer?.get(ref.namespace, ref.name);
  }

  /** A resource uses these objects and no others any more. */
  retain(key: string, used: ReadonlySet<string>): void {
    for (const topic of this.#looks.retain(key, used)) this.#linger(topic);
  }

  problems(): readonly { readonly watching: string; readonly state: InformerState }[] {
    return [...this.#entries.values()].flatMap(({ ref, single }) =>
      single?.informer.state.kind === 'failing'
        ? [{ watching: `${ref.gvk.kind} "${ref.name}"`, state: single.informer.state }]
        : [],
    );
  }

  stop(): void {
    for (const cancel of this.#lingering.values()) cancel();
    for (const { single } of this.#entries.values()) single?.stop();
    for (const wide of this.#wide.values()) wide.stop();
    this.#entries.clear();
    this.#wide.clear();
    this.#lingering.clear();
  }

  #start(topic: string, ref: ObjectRef): Entry {
    const entry: Entry = { ref, single: undefined };
    this.#entries.set(topic, entry);
    const kind = gvkKey(ref.gvk);
    const names = this.#entriesOf(kind).length;
    if (names > singleWatches && !this.#wide.has(kind)) this.#wide.set(kind, this.#watchAll(ref));
    return entry;
  }

  #watchOne({ gvk, namespace, name }: ObjectRef): Source {
    const informer = this.#options.watcher.acquire({
      gvk,
      ...(namespace === undefined ? {} : { namespace }),
      fieldSelector: `metadata.name=${name}`,
    });
    const unobserve = informer.onState(() =>
      this.#wakeUnsynced(
        topicOfRef({ gvk, ...(namespace === undefined ? {} : { namespace }), name }),
      ),
    );
    return this.#listen(informer, { gvk, unobserve });
  }

  /** One watch for all names of a kind. Until it has synced (it may be forbidden) the watches of single objects stay. */
  #watchAll({ gvk }: ObjectRef): Source {
    const informer = this.#options.watcher.acquire({ gvk });
    const unobserve = informer.onState(({ kind }) => {
      if (kind !== 'synced') return;
      for (const entry of this.#entriesOf(gvkKey(gvk))) {
        this.#wakeUnsynced(topicOfRef(entry.ref));
        entry.single?.stop();
        entry.single = undefined;
      }
    });
    return this.#listen(informer, { gvk, unobserve });
  }

  #listen(
    informer: Informer,
    { gvk, unobserve }: { readonly gvk: ObjectRef['gvk']; readonly unobserve: () => void },
  ): Source {
    const unsubscribe = informer.subscribe((event) => {
      const namespace = event.namespace === '' ? undefined : event.namespace;
      this.#onEvent(topicOf(gvk, namespace, event.name), event);
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

  #onEvent(topic: string, event: CacheEvent): void {
    // The first list is news of the state: those who did without are woken by it.
    if (event.initial) return;
    const looks = this.#looks.of(topic);
    if (looks === undefined) return;
    for (const [key, { paths }] of looks) {
      const changed =
        isReplaced(event) ||
        differingPath(event.old?.object, event.current?.object, paths) !== undefined;
      if (!changed) continue;
      wakeFor(this.#options.waker, key, { event, shared: looks.size > sharedByMany });
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
    this.#lingering.set(
      topic,
      this.#options.clock.after(lingerMs, () => this.#end(topic)),
    );
  }

  #end(topic: string): void {
    this.#lingering.delete(topic);
    const entry = this.#entries.get(topic);
    if (entry === undefined || this.#looks.of(topic) !== undefined) return;
    entry.single?.stop();
    this.#entries.delete(topic);
    const kind = gvkKey(entry.ref.gvk);
    if (this.#entriesOf(kind).length > 0) return;
    this.#wide.get(kind)?.stop();
    this.#wide.delete(kind);
  }

  #entriesOf(kind: string): readonly Entry[] {
    return [...this.#entries.values()].filter(({ ref }) => gvkKey(ref.gvk) === kind);
  }
}

/** The topic of an object, as {@link NamedObjects.retain} wants it. */
export function topicOfRef({ gvk, namespace, name }: ObjectRef): string {
  return topicOf(gvk, namespace, name);
}
