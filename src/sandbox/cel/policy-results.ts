import type { Json } from '#util/json.ts';
import { JsonPatchOperation } from './policy-types.ts';

/** The fields of the operations of a patch. @throws Error for a value that is no list of operations */
export function patchOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  const list = Array.isArray(value) ? value : undefined;
  if (list === undefined)
    throw new Error('type mismatch: JSONPatchType.expression should evaluate to array');
  return list.map((item: unknown) => {
    if (item instanceof JsonPatchOperation) return item.fields;
    throw new Error(
      'type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch',
    );
  });
}

/** A result of an expression as JSON. */
export function fromCel(value: unknown): Json {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString().replace(/\.000Z$/, 'Z');
  if (value instanceof Uint8Array) return btoa(String.fromCharCode(...value));
  if (Array.isArray(value)) return value.map(fromCel);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([name, item]) => [String(name), fromCel(item)]));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fromCel(item)]));
  return value === undefined ? null : (value as Json);
}
