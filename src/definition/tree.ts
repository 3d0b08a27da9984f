/** Reading a tree that nobody has checked yet: what is not there, or has another type, is empty. */
import { isJsonObject, type JsonObject } from '../util/json.ts';
import { pointerSteps, pointerTo } from '../util/json-pointer.ts';

/** A node and where it stands. */
export interface Placed<Value> {
  readonly value: Value;
  readonly path: string;
}

/** The value at a pointer, or undefined. Own fields only. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value: unknown = root;
  for (const step of pointerSteps(pointer)) value = fieldOf(value, step);
  return value;
}

/** A field of a map or an item of a list, or undefined. Own fields only. */
export function fieldOf(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[step];
}

/** The map at a pointer; an empty one when there is none. */
export function mapAt(root: unknown, pointer: string): JsonObject {
  const value = valueAt(root, pointer);
  return isJsonObject(value) ? value : {};
}

/** The items of the list at a pointer, with their places. */
export function itemsAt(root: unknown, pointer: string): readonly Placed<unknown>[] {
  const value = valueAt(root, pointer);
  if (!Array.isArray(value)) return [];
  return value.map((item: unknown, index) => ({ value: item, path: pointerTo(pointer, index) }));
}

/** The items of the list at a pointer that are maps. */
export function mapsAt(root: unknown, pointer: string): readonly Placed<JsonObject>[] {
  return itemsAt(root, pointer).filter((item): item is Placed<JsonObject> =>
    isJsonObject(item.value),
  );
}
