import type { JsonObject } from '../../util/json.ts';
import { Collection, inOrder } from './collection.ts';
import { StoredObject, versionOf } from './stored-object.ts';
import { type WorldSnapshot, writeWorld } from './world-text.ts';

/** One change of the world. */
export interface StoreEvent {
  readonly version: number;
  /** Of what: `apps/deployments`. */
  readonly collection: string;
  readonly before: StoredObject | undefined;
  /** Undefined = deleted; then `last` is the object with the version of its deletion. */
  readonly after: StoredObject | undefined;
  /** What a watch shows: the new object, or the deleted one at the deletion's version. */
  readonly last: StoredObject;
}

export type StoreListener = (event: StoreEvent) => void;

export interface ObjectStoreOptions {
  /** The version to start after. A clock's milliseconds make versions of an earlier run too old. */
  readonly startVersion: number;
  /** Events kept for watches and old lists. @default 10_000 */
  readonly historyLength?: number;
  /** What is there from the start. Its past is forgotten. @default nothing */
  readonly world?: WorldSnapshot;
}

/** Objects by collection, with one counter of versions for all and a bounded history of changes. */
export class ObjectStore {
  readonly #collections = new Map<string, Collection>();
  readonly #history: StoreEvent[] = [];
  readonly #historyLength: number;
  readonly #listeners = new Set<StoreListener>();
  readonly #undelivered: StoreEvent[] = [];
  #isDelivering = false;
  #version: number;
  /** Changes up to here are forgotten. */
  #forgottenVersion: number;

  constructor({ startVersion, historyLength = 10_000, world }: ObjectStoreOptions) {
    this.#version = Math.max(startVersion, world?.version ?? 0);
    this.#forgottenVersion = this.#version;
    this.#historyLength = historyLength;
    for (const [name, objects] of world?.collections ?? []) {
      const collection = this.#collection(name);
      for (const object of objects) collection.set(new StoredObject(object, versionOf(object)));
    }
  }

  /** The version of the last change. */
  get version(): number {
    return this.#version;
  }

  /** Changes after this version are known; earlier ones are forgotten. */
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

  /** A collection as it was; undefined when that is forgotten. */
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

  /** The changes of a collection after a version; undefined when some of them are forgotten. */
  eventsAfter(collection: string, version: number): readonly StoreEvent[] | undefined {
    if (version < this.#forgottenVersion) return undefined;
    const from = firstAfter(this.#history, version);
    return this.#history.slice(from).filter((event) => event.collection === collection);
  }

  /** Writes an object at the next version, which it gets as its resourceVersion. */
  put(collection: string, object: JsonObject): StoredObject {
    this.#version++;
    const after = new StoredObject(object, this.#version);
    const into = this.#collection(collection);
    const before = into.objects.get(after.key);
    into.set(after);
    this.#record({ version: this.#version, collection, before, after, last: after });
    return after;
  }

  /** Removes an object; the answer is the object as it was last, at the version of its deletion. */
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

  /** Everything that is there, each as if it had just been written. */
  present(): readonly StoreEvent[] {
    return [...this.#collections].flatMap(([collection, { objects }]) =>
      Array.from(objects.values(), (stored) => {
        const { version } = stored;
        return { version, collection, before: undefined, after: stored, last: stored };
      }),
    );
  }

  /** Everything that is there as text, for {@link readWorld}. */
  worldText(): string {
    const all = [...this.#collections].map(
      ([name, { objects }]) => [name, objects.values()] as const,
    );
    return writeWorld(this.#version, all);
  }

  #collection(name: string): Collection {
    const known = this.#collections.get(name);
    if (known !== undefined) return known;
    const made = new Collection();
    this.#collections.set(name, made);
    return made;
  }

  #record(event: StoreEvent): void {
    this.#history.push(event);
    if (this.#history.length > this.#historyLength * 1.25) {
      const forgotten = this.#history.splice(0, this.#history.length - this.#historyLength);
      this.#forgottenVersion = forgotten.at(-1)?.version ?? this.#forgottenVersion;
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

/** Where the first event after a version stands; versions ascend. */
function firstAfter(events: readonly StoreEvent[], version: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.version ?? 0) <= version) low = middle + 1;
    else high = middle;
  }
  return low;
}
