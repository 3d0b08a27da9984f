import { deepEqual } from '../../util/deep-equal.ts';
import type { JsonObject } from '../../util/json.ts';
import { objectField, withField } from '../json-fields.ts';

/** The object with the generation that its changes lead to: one more when anything but the named fields changed. */
export function withGeneration(
  object: JsonObject,
  before: JsonObject,
  ignored: readonly string[],
): JsonObject {
  const old = objectField(before, 'metadata')?.generation;
  const generation = typeof old === 'number' ? old : 0;
  const isSame = deepEqual(without(object, ignored), without(before, ignored));
  return withMetadata(object, 'generation', isSame ? generation : generation + 1);
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
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
