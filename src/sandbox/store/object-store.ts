import type { JsonObject } from '#util/json.ts';
import { StoredObject, type StoreSnapshot, versionOf, writeSnapshot } from './stored-object.ts';

/** One change of the store. */
export interface StoreEvent {
  readonly version: number;
  /** The collection of the object: `apps/deployments`. */
  readonly collection: string;
  readonly before: StoredObject | undefined;
  /** Undefined = deleted; then `last` is the object with the version of its deletion. */
  readonly after: StoredObject | undefined;
  /** The object that a watch sends: the new one, or the deleted one at the version of its deletion. */
  readonly last: StoredObject;
}

type StoreListener = (event: StoreEvent) => void;

export interface ObjectStoreOptions {
  /** The version to start after. With a clock's milliseconds, versions of an earlier run are expired. */
  readonly startVersion: number;
  /** The number of events kept for watches and old lists. @default 10_000 */
  readonly historyLength?: number;
  /** The initial objects, without a history. @default no objects */
  readonly snapshot?: StoreSnapshot;
}

/** Objects by collection, with one version counter for all and a bounded history of changes. */
export class ObjectStore {
  readonly #collections = new Map<string, Collection>();
  readonly #history: StoreEvent[] = [];
  readonly #historyLength: number;
  readonly #listeners = new Set<StoreListener>();
  readonly #undelivered: StoreEvent[] = [];
  #isDelivering = false;
  #version: number;
  /** The history begins after this version. */
  #forgottenVersion: number;

  constructor({ startVersion, historyLength = 10_000, snapshot }: ObjectStoreOptions) {
    this.#version = Math.max(startVersion, snapshot?.version ?? 0);
    this.#forgottenVersion = this.#version;
    this.#historyLength = historyLength;
    for (const [name, objects] of snapshot?.collections ?? []) {
      const collection = this.#collection(name);
      for (const object of objects) collection.set(new StoredObject(object, versionOf(object)));
    }
  }

  /** The version of the last change. */
  get version(): number {
    return this.#version;
  }

  /** The history contains the changes after this version. */
  get oldestVersion(): number {
    return this.#forgottenVersion;
  }

  get(collection: string, key: string): StoredObject | undefined {
    return this.#collections.get(collection)?.objects.get(key);
  }

  /** All objects of a collection, ordered by namespace and name. */
  list(collection: string): readonly StoredObject[] {
    return this.#collections.get(collection)?.sorted() ?? [];
  }

  /** A collection at an earlier version; undefined when the history does not reach back so far. */
  listAt(collection: string, version: number): readonly StoredObject[] | undefined {
    if (version >= this.#version) return this.list(collection);
    if (version < this.#forgottenVersion) return undefined;
    const objects = new Map(this.#collections.get(collection)?.objects);
    for (let index = this.#history.length - 1; index >= 0; index--) {
      const event = this.#history[index];
      if (event === undefined || event.version <= version) break;
      if (event.collection !== collection) continue;
      if (event.before === undefined) objects.delete(event.last.key);
      else objects.set(event.before.key, event.before);
    }
    return inOrder(objects.values());
  }

  /** The changes of a collection after a version; undefined when the history does not reach back so far. */
  eventsAfter(collection: string, version: number): readonly StoreEvent[] | undefined {
    if (version < this.#forgottenVersion) return undefined;
    const from = firstIndexAfter(this.#history, version);
    return this.#history.slice(from).filter((event) => event.collection === collection);
  }

  /** Stores an object at the next version and sets its resourceVersion. */
  put(collection: string, object: JsonObject): StoredObject {
    this.#version++;
    const after = new StoredObject(object, this.#version);
    const objects = this.#collection(collection);
    const before = objects.objects.get(after.key);
    objects.set(after);
    this.#record({ version: this.#version, collection, before, after, last: after });
    return after;
  }

  /** Deletes an object; returns its last state at the version of the deletion. */
  delete(collection: string, before: StoredObject): StoredObject {
    this.#version++;
    const last = new StoredObject(before.object, this.#version);
    this.#collection(collection).delete(before.key);
    this.#record({ version: this.#version, collection, before, after: undefined, last });
    return last;
  }

  /** Calls the listener after every change, in order, also for changes that listeners make. */
  subscribe(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** All objects, each as an event. */
  currentObjects(): readonly StoreEvent[] {
    return [...this.#collections].flatMap(([collection, { objects }]) =>
      Array.from(objects.values(), (stored) => {
        const { version } = stored;
        return { version, collection, before: undefined, after: stored, last: stored };
      }),
    );
  }

  /** All objects as text, for {@link readSnapshot}. */
  snapshotText(): string {
    const all = [...this.#collections].map(
      ([name, { objects }]) => [name, objects.values()] as const,
    );
    return writeSnapshot(this.#version, all);
  }

  #collection(name: string): Collection {
    const known = this.#collections.get(name);
    if (known !== undefined) return known;
    const collection = new Collection();
    this.#collections.set(name, collection);
    return collection;
  }

  #record(event: StoreEvent): void {
    this.#history.push(event);
    if (this.#history.length > this.#historyLength * 1.25) {
      const dropped = this.#history.splice(0, this.#history.length - this.#historyLength);
      this.#forgottenVersion = dropped.at(-1)?.version ?? this.#forgottenVersion;
    }
    this.#undelivered.push(event);
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    try {
      this.#deliver();
    } finally {
      this.#isDelivering = false;
    }
  }

  #deliver(): void {
    for (;;) {
      const event = this.#undelivered.shift();
      if (event === undefined) return;
      for (const listener of this.#listeners) listener(event);
    }
  }
}

/** The index of the first event after a version; versions are ascending. */
function firstIndexAfter(events: readonly StoreEvent[], version: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.version ?? 0) <= version) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Objects by key, and in order for lists. The order is maintained from the first list on, not recomputed after each write. */
export class Collection {
  readonly objects = new Map<string, StoredObject>();
  /** Undefined until the first list. */
  #sorted: StoredObject[] | undefined;
  /** A caller holds the list: it must not change any more. */
  #isShared = false;

  set(object: StoredObject): void {
    const isNew = !this.objects.has(object.key);
    this.objects.set(object.key, object);
    const sorted = this.#toChange();
    sorted?.splice(lowerBound(sorted, object.key), isNew ? 0 : 1, object);
  }

  delete(key: string): void {
    if (!this.objects.delete(key)) return;
    const sorted = this.#toChange();
    sorted?.splice(lowerBound(sorted, key), 1);
  }

  /** By namespace and name. Later writes do not change the list. */
  sorted(): readonly StoredObject[] {
    this.#sorted ??= inOrder(this.objects.values());
    this.#isShared = true;
    return this.#sorted;
  }

  #toChange(): StoredObject[] | undefined {
    if (this.#isShared) this.#sorted = this.#sorted?.slice();
    this.#isShared = false;
    return this.#sorted;
  }
}

/** Sorts objects by namespace and name. */
function inOrder(objects: Iterable<StoredObject>): StoredObject[] {
  return [...objects].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** The index of the first object with this key or a later one. */
function lowerBound(sorted: readonly StoredObject[], key: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.key ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
