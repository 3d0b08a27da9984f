import { deepEqual } from '#util/deep-equal.ts';
import type { JsonObject } from '#util/json.ts';
import { fieldOf, objectField, withField } from '../json-fields.ts';

/** The object with its generation, which increases when a field of the metadata or any field except the named ones changed. */
export function withGeneration(
  object: JsonObject,
  before: JsonObject,
  ignored: readonly string[],
  counted?: string,
): JsonObject {
  const old = objectField(before, 'metadata')?.generation;
  const generation = typeof old === 'number' ? old : 0;
  const [next, last] = [object, before].map(
    (each) => objectField(objectField(each, 'metadata') ?? {}, counted ?? '') ?? {},
  );
  const isSame =
    isSameBut(object, before, ignored) &&
    isSameBut(before, object, ignored) &&
    deepEqual(next, last);
  return withMetadata(object, 'generation', isSame ? generation : generation + 1);
}

/** Returns whether two objects are equal except for some fields. */
function isSameBut(object: JsonObject, other: JsonObject, ignored: readonly string[]): boolean {
  return Object.entries(object).every(
    ([name, value]) => ignored.includes(name) || deepEqual(value, fieldOf(other, name)),
  );
}

/** The object with one field of its metadata set, or removed when undefined. */
export function withMetadata(
  object: JsonObject,
  name: string,
  value: JsonObject[string],
): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  return withField(object, 'metadata', withField(metadata, name, value));
}

/**
 * The period between two changes of a CRD, in which its kinds are unchanged. When it ends, stored objects are read again under
 * the new schema and open watches end.
 */
export class ServingPeriod {
  /** The store's version when the period began. */
  readonly since: number;
  readonly #listeners = new Set<() => void>();
  #allowsCreate = true;

  constructor(since: number) {
    this.since = since;
  }

  /** False while the CRD waits for its objects to be deleted: no objects can be created. */
  get allowsCreate(): boolean {
    return this.#allowsCreate;
  }

  denyCreate(): void {
    this.#allowsCreate = false;
  }

  /** Calls the listener when the kinds are replaced or removed; returns the unsubscribe function. */
  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  end(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
