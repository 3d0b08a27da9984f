/** Access to an unvalidated tree: a value that is missing or has another type is treated as empty. */
import { isJsonObject, type JsonObject, pointerSteps, pointerTo } from '#util/json.ts';

/** A value and its JSON pointer. */
export interface LocatedValue<Value> {
  readonly value: Value;
  readonly path: string;
}

/** The value at a pointer, or undefined. Inherited properties are ignored. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value: unknown = root;
  for (const step of pointerSteps(pointer)) value = fieldOf(value, step);
  return value;
}

/** A field of a map or an item of a list, or undefined. Inherited properties are ignored. */
export function fieldOf(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[step];
}

/** The map at a pointer, or an empty map. */
export function mapAt(root: unknown, pointer: string): JsonObject {
  const value = valueAt(root, pointer);
  return isJsonObject(value) ? value : {};
}

/** The items of the list at a pointer, with their pointers. */
export function itemsAt(root: unknown, pointer: string): readonly LocatedValue<unknown>[] {
  const value = valueAt(root, pointer);
  if (!Array.isArray(value)) return [];
  return value.map((item: unknown, index) => ({ value: item, path: pointerTo(pointer, index) }));
}

/** The items of the list at a pointer that are maps. */
export function mapsAt(root: unknown, pointer: string): readonly LocatedValue<JsonObject>[] {
  return itemsAt(root, pointer).filter((item): item is LocatedValue<JsonObject> =>
    isJsonObject(item.value),
  );
}

const maxShownLength = 60;

/** Describes a value for a message: scalars in quotes, collections by their type. */
export function describeFound(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return Object.keys(value).length === 0 ? 'an empty map' : 'a map';
  const text = String(value).replaceAll(/\s+/g, ' ');
  return text.length > maxShownLength ? `"${text.slice(0, maxShownLength)}..."` : `"${text}"`;
}

/** `"a"`, `"a" or "b"`, `"a", "b" or "c"`. */
export function quotedList(values: readonly unknown[]): string {
  const quoted = values.map((value) => `"${String(value)}"`);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}

/** What the boolean words of YAML 1.1 mean. */
export function booleanMeant(value: string): boolean | undefined {
  if (/^(?:true|yes|on)$/i.test(value)) return true;
  return /^(?:false|no|off)$/i.test(value) ? false : undefined;
}

/** The number or boolean that a string means. */
export function plainForm(value: string, types: readonly unknown[]): string | undefined {
  const isNumber = types.includes('integer') || types.includes('number');
  if (isNumber && /^-?\d+$/.test(value)) return value;
  if (!types.includes('boolean')) return undefined;
  return booleanMeant(value)?.toString();
}
