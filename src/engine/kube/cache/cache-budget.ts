import { jsonLength } from '#util/json.ts';
import type { StoredObject } from '../roles.ts';
import type { ObjectStore } from './object-store.ts';
import type { BudgetShare } from './shared-budget.ts';

/** What an empty map or list takes in memory, in bytes: as JSON it has two characters. */
const containerSize = 64;

interface CacheBudgetOptions {
  /** Of all that is kept as JSON, with 64 for each map and list. */
  readonly maxLength: number;
  /** Called when it is exceeded, perhaps more than once. */
  readonly onExceeded: () => void;
  /** What all clusters take together. @default none */
  readonly share?: BudgetShare;
}

/** Measures what is kept of a cluster that is not trusted: objects of informers, schemas, discovery. */
export class CacheBudget {
  readonly #options: CacheBudgetOptions;
  /** By object, so that nothing is measured twice. */
  readonly #lengths = new WeakMap<StoredObject, number>();
  /** Of values that are no objects of informers. */
  readonly #kept = new Map<string, number>();
  #length = 0;

  constructor(options: CacheBudgetOptions) {
    this.#options = options;
  }

  /** Counts the objects of a store. Returns the function that takes them out. */
  follow(store: ObjectStore): () => void {
    let own = 0;
    const add = (length: number) => {
      own += length;
      this.#add(length);
    };
    const unsubscribe = store.subscribe(({ old, current }) =>
      add(this.#lengthOf(current) - this.#lengthOf(old)),
    );
    return () => {
      unsubscribe();
      add(-own);
    };
  }

  /** Counts a value in place of the one before with this key. Undefined: it is no longer kept. */
  keep(key: string, value: unknown): void {
    const before = this.#kept.get(key) ?? 0;
    const length = value === undefined ? 0 : this.#measure(value);
    if (value === undefined) this.#kept.delete(key);
    else this.#kept.set(key, length);
    this.#add(length - before);
  }

  #add(length: number): void {
    const { maxLength, onExceeded, share } = this.#options;
    this.#length += length;
    if (length > 0 && this.#length > maxLength) onExceeded();
    share?.add(length);
  }

  #lengthOf(stored: StoredObject | undefined): number {
    if (stored === undefined) return 0;
    const length = this.#lengths.get(stored) ?? this.#measure(stored.object);
    this.#lengths.set(stored, length);
    return length;
  }

  /** A value that cannot be measured exceeds the limit. */
  #measure(value: unknown): number {
    try {
      return jsonLength(value, containerSize);
    } catch {
      return this.#options.maxLength + 1;
    }
  }
}
