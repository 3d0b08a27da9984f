import type { StoredObject } from './stored-object.ts';

/** Objects by key, and in order for those who list them: the order is kept up from the first list on, not made anew after each write. */
export class Collection {
  readonly objects = new Map<string, StoredObject>();
  /** Undefined = nobody has asked. */
  #sorted: StoredObject[] | undefined;
  /** Somebody holds the list: it must not change any more. */
  #isShared = false;

  set(object: StoredObject): void {
    const isNew = !this.objects.has(object.key);
    this.objects.set(object.key, object);
    const sorted = this.#toChange();
    sorted?.splice(firstNotBelow(sorted, object.key), isNew ? 0 : 1, object);
  }

  delete(key: string): void {
    if (!this.objects.delete(key)) return;
    const sorted = this.#toChange();
    sorted?.splice(firstNotBelow(sorted, key), 1);
  }

  /** By namespace and name. Stays as it is whatever is written. */
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

/** Objects by namespace and name. */
export function inOrder(objects: Iterable<StoredObject>): StoredObject[] {
  return [...objects].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Where the first object stands whose key is this one or a later one. */
function firstNotBelow(sorted: readonly StoredObject[], key: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.key ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
