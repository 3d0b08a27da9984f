import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { setField } from '#util/set-field.ts';

/** An object under construction. */
export interface MutableJsonObject {
  [key: string]: Json;
}

/** The value of an own field, never an inherited one (`constructor` is a legal key of a ConfigMap). */
export function fieldOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A copy with one field set, or removed when the value is undefined. */
export function withField(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  // Spread and rest never set a prototype, whatever the names are.
  if (value !== undefined) return { ...object, [name]: value };
  if (!Object.hasOwn(object, name)) return object;
  const { [name]: _, ...others } = object;
  return others;
}

/** A copy with some fields set; the object itself when the fields are equal already, so that callers can detect that nothing changed. */
export function withFields(object: JsonObject, fields: JsonObject): JsonObject {
  const isSame = Object.entries(fields).every(([name, value]) => object[name] === value);
  return isSame ? object : { ...object, ...fields };
}

/** The list with its objects converted; the same list when none of them changed. */
export function mapObjects(
  list: readonly Json[],
  change: (object: JsonObject) => JsonObject,
): readonly Json[] {
  const mapped = list.map((item) => (isJsonObject(item) ? change(item) : item));
  return mapped.every((item, at) => item === list[at]) ? list : mapped;
}

/** A field that is an object; undefined when it has another type. */
export function objectField(object: JsonObject, name: string): JsonObject | undefined {
  const value = fieldOf(object, name);
  return isJsonObject(value) ? value : undefined;
}

/** A field that is a string; undefined when it has another type. */
export function stringField(object: JsonObject, name: string): string | undefined {
  const value = fieldOf(object, name);
  return typeof value === 'string' ? value : undefined;
}

/** A field that is a list; empty when it has another type. */
export function listField(object: JsonObject, name: string): readonly Json[] {
  const value = fieldOf(object, name);
  return isJsonList(value) ? value : [];
}

export function isJsonList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** The value with the keys of its objects in order, as Go encodes maps; the same value when they are. */
export function inKeyOrder(value: Json): Json {
  if (isJsonList(value)) {
    const items = value.map(inKeyOrder);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const keys = sortedKeys(value);
  const sorted: MutableJsonObject = {};
  let isSame = keys.isSame;
  for (const key of keys.names) {
    const given = value[key] ?? null;
    const field = inKeyOrder(given);
    if (field !== given) isSame = false;
    setField(sorted, key, field);
  }
  return isSame ? value : sorted;
}

/** The keys of an object in order. `isSame`: as they are in it. */
export function sortedKeys(object: JsonObject): {
  readonly names: readonly string[];
  readonly isSame: boolean;
} {
  const names = Object.keys(object);
  const isSame = names.every((name, at) => at === 0 || (names[at - 1] ?? '') < name);
  return { names: isSame ? names : names.sort(), isSame };
}
