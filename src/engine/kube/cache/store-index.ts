import type { KubeObject } from '#util/kube-object.ts';
import type { CacheIndex, StoredObject } from '../roles.ts';

/** Indexes the objects of one store by the values of a function. Removes empty buckets. */
export class StoreIndex implements CacheIndex {
  readonly #valuesOf: (object: KubeObject) => readonly string[];
  readonly #buckets = new Map<string, Map<string, StoredObject>>();

  constructor(valuesOf: (object: KubeObject) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  get(value: string): readonly StoredObject[] {
    const bucket = this.#buckets.get(value);
    return bucket === undefined ? [] : [...bucket.values()];
  }

  /** Number of values in the index. */
  get size(): number {
    return this.#buckets.size;
  }

  /** The object under `key` changed from `old` to `current`. */
  update(key: string, old: StoredObject | undefined, current: StoredObject | undefined): void {
    if (old !== undefined) this.#drop(key, old);
    if (current === undefined) return;
    for (const value of this.#valuesOf(current.object)) {
      const bucket = this.#buckets.get(value);
      if (bucket === undefined) this.#buckets.set(value, new Map([[key, current]]));
      else bucket.set(key, current);
    }
  }

  #drop(key: string, old: StoredObject): void {
    for (const value of this.#valuesOf(old.object)) {
      const bucket = this.#buckets.get(value);
      bucket?.delete(key);
      if (bucket?.size === 0) this.#buckets.delete(value);
    }
  }
}
