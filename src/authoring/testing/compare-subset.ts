import type { ListType, SchemaType } from '#compile';
import { fieldPath, itemPath } from '#plan';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import { matcherOf } from './matchers.ts';

/** A field that is not as expected. */
export interface Mismatch {
  /** JSON pointer into the expected value. */
  readonly pointer: string;
  /** The same for people: `spec.containers[name=web].image`. Empty: the whole value. */
  readonly path: string;
  readonly expected: unknown;
  /** Undefined: the field does not exist. */
  readonly found: unknown;
}

/** Fields that identify list items if no schema names them. */
const usualKeys = ['name', 'type', 'key', 'port', 'ip'];

/**
 * Compares an expected value with what was found: every expected field must be there with an equal value, other fields may be there.
 * Items of a list are found by the list's merge keys; a list without them must be equal item by item.
 * @param type of the value; undefined where no schema is known.
 */
export function compareSubset(
  expected: unknown,
  found: unknown,
  type: SchemaType | undefined,
): readonly Mismatch[] {
  return [...mismatchesOf(expected, found, { pointer: '', path: '', type })];
}

interface Place extends Pick<Mismatch, 'pointer' | 'path'> {
  readonly type: SchemaType | undefined;
}

function* mismatchesOf(expected: unknown, found: unknown, place: Place): Generator<Mismatch> {
  const { pointer, path } = place;
  const matcher = matcherOf(expected);
  if (matcher !== undefined) {
    if (!matcher(found)) yield { pointer, path, expected, found };
  } else if (isJsonObject(expected) && isJsonObject(found)) {
    for (const [field, value] of Object.entries(expected))
      yield* mismatchesOf(value, found[field], fieldPlace(place, field));
  } else if (Array.isArray(expected) && Array.isArray(found)) {
    yield* listMismatches(expected, found, place);
  } else if (!deepEqual(expected, found)) {
    yield { pointer, path, expected, found };
  }
}

function* listMismatches(
  expected: readonly unknown[],
  found: readonly unknown[],
  { pointer, path, type }: Place,
): Generator<Mismatch> {
  const list = type?.kind === 'list' ? type : undefined;
  const keys = mergeKeys(expected, list);
  if (keys.length === 0 && expected.length !== found.length) {
    yield { pointer, path, expected, found };
    return;
  }
  for (const [index, item] of expected.entries()) {
    const other =
      keys.length === 0
        ? found[index]
        : found.find((each) =>
            keys.every((key) => deepEqual(fieldOf(item, key), fieldOf(each, key))),
          );
    const at = {
      pointer: pointerTo(pointer, index),
      path: itemPath(
        path,
        keys.length === 0 ? index : keys.map((key) => [key, fieldOf(item, key)]),
      ),
    };
    if (other === undefined) yield { ...at, expected: item, found: undefined };
    else yield* mismatchesOf(item, other, { ...at, type: list?.item });
  }
}

/** None: the order of the items decides. */
function mergeKeys(items: readonly unknown[], list: ListType | undefined): readonly string[] {
  const maps = items.filter(isJsonObject);
  if (maps.length === 0 || maps.length < items.length) return [];
  const isIn = (key: string) => maps.every((item) => isScalar(item[key]));
  if (list?.list === 'map') return list.keys.filter(isIn);
  if (list !== undefined) return [];
  const key = usualKeys.find(isIn);
  return key === undefined ? [] : [key];
}

function isScalar(value: unknown): boolean {
  return value !== undefined && value !== null && typeof value !== 'object';
}

function fieldOf(value: unknown, field: string): unknown {
  return isJsonObject(value) ? (value as JsonObject)[field] : undefined;
}

function fieldPlace({ pointer, path, type }: Place, field: string): Place {
  return {
    pointer: pointerTo(pointer, field),
    path: fieldPath(path, field),
    type: fieldType(type, field),
  };
}

function fieldType(type: SchemaType | undefined, field: string): SchemaType | undefined {
  if (type?.kind === 'struct') return type.fields.get(field)?.type;
  if (type?.kind === 'map') return type.item;
  return undefined;
}
