import { jsonLength } from '../../util/json.ts';
import type { StoredObject } from '../roles.ts';
import type { ObjectStore } from './object-store.ts';

/** What an empty map or list takes in memory, in bytes: as JSON it has two characters. */
const containerSize = 64;

/** Measures the objects of all informers of a cluster that is not trusted. */
export class CacheBudget {
  readonly #maxLength: number;
  readonly #onExceeded: () => void;
  /** By object, so that nothing is measured twice. */
  readonly #lengths = new WeakMap<StoredObject, number>();
  #length = 0;

  /** @param maxLength Of all objects as JSON, with 64 for each map and list. */
  constructor(maxLength: number, onExceeded: () => void) {
    this.#maxLength = maxLength;
    this.#onExceeded = onExceeded;
  }

  /** Counts the objects of a store. Returns the function that takes them out. */
  follow(store: ObjectStore): () => void {
    let own = 0;
    const add = (length: number) => {
      own += length;
      this.#length += length;
      if (length > 0 && this.#length > this.#maxLength) this.#onExceeded();
    };
    const unsubscribe = store.subscribe(({ old, current }) =>
      add(this.#lengthOf(current) - this.#lengthOf(old)),
    );
    return () => {
      unsubscribe();
      add(-own);
    };
  }

  #lengthOf(stored: StoredObject | undefined): number {
    if (stored === undefined) return 0;
    const length = this.#lengths.get(stored) ?? this.#measure(stored);
    this.#lengths.set(stored, length);
    return length;
  }

  /** An object that cannot be measured exceeds the limit. */
  #measure({ object }: StoredObject): number {
    try {
      return jsonLength(object, containerSize);
    } catch {
      return this.#maxLength + 1;
    }
  }
}
