import { deepEqual } from '../../util/deep-equal.ts';
import type { JsonObject } from '../../util/json.ts';
import { fieldOf, objectField, withField } from '../json-fields.ts';

/** The object with the generation that its changes lead to: one more when anything but the named fields changed. */
export function withGeneration(
  object: JsonObject,
  before: JsonObject,
  ignored: readonly string[],
): JsonObject {
  const old = objectField(before, 'metadata')?.generation;
  const generation = typeof old === 'number' ? old : 0;
  const isSame = isSameBut(object, before, ignored) && isSameBut(before, object, ignored);
  return withMetadata(object, 'generation', isSame ? generation : generation + 1);
}

/** Is everything that an object has, but for some fields, the same in the other? */
function isSameBut(object: JsonObject, other: JsonObject, ignored: readonly string[]): boolean {
  return Object.entries(object).every(
    ([name, value]) => ignored.includes(name) || deepEqual(value, fieldOf(other, name)),
  );
}

/** The object with one field of its metadata set, or left out when undefined. */
export function withMetadata(
  object: JsonObject,
  name: string,
  value: JsonObject[string],
): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  return withField(object, 'metadata', withField(metadata, name, value));
}
