import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { fieldPathOf, valueAtPath } from '../spec/field-path.ts';

/**
 * The path of the first field of `desired` that `result` does not have, in the order of `desired`; lists are compared as wholes.
 * Undefined: it has all of them. `skip` are paths that are not compared. Pure.
 */
export function firstDifference(
  desired: JsonObject,
  result: Json | undefined,
  skip: readonly string[] = [],
): string | undefined {
  const skipped = new Set(skip.map((path) => keyOf(fieldPathOf(path) ?? [path])));
  return difference(desired, result, [], skipped);
}

function difference(
  desired: Json,
  found: Json | undefined,
  path: readonly string[],
  skipped: ReadonlySet<string>,
): string | undefined {
  if (path.length > 0 && skipped.has(keyOf(path))) return undefined;
  // Null is missing, as everywhere in definitions.
  if (desired === null) return found === undefined || found === null ? undefined : textOf(path);
  if (!isJsonObject(desired)) return isSame(desired, found) ? undefined : textOf(path);
  if (!isJsonObject(found)) return textOf(path);
  for (const [name, value] of Object.entries(desired)) {
    if (value === undefined) continue;
    const field = Object.hasOwn(found, name) ? found[name] : undefined;
    const at = difference(value, field, [...path, name], skipped);
    if (at !== undefined) return at;
  }
  return undefined;
}

/** The values of `desired` by which an object is found, by field path. Pure. */
export function matchOf(desired: JsonObject, paths: readonly string[]): JsonObject {
  const entries = paths.map((path) => [path, valueAtPath(desired, fieldPathOf(path) ?? [path])]);
  return Object.fromEntries(entries);
}

/** Whether an object of a list has all of these values. A value that is missing in `desired` matches nothing. Pure. */
export function matches(match: JsonObject, found: Json): boolean {
  return Object.entries(match).every(([path, expected]) => {
    const value = valueAtPath(found, fieldPathOf(path) ?? [path]);
    return expected !== undefined && isSame(expected, value);
  });
}

/** `desired` merged into what was observed: fields that it does not name are kept, lists are replaced. Pure. */
export function merged(result: Json | undefined, desired: JsonObject): JsonObject {
  if (!isJsonObject(result)) return desired;
  const copy: Record<string, Json | undefined> = { ...result };
  for (const [name, value] of Object.entries(desired)) {
    const before = Object.hasOwn(result, name) ? result[name] : undefined;
    const field = isJsonObject(value) ? merged(before, value) : value;
    // Assigning `__proto__` creates no field.
    Object.defineProperty(copy, name, {
      value: field,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return copy;
}

/** Equal values; an exact integer equals the same number. */
function isSame(a: Json, b: Json | undefined): boolean {
  if (typeof a === 'bigint' || typeof b === 'bigint') return String(a) === String(b);
  return deepEqual(a, b);
}

function keyOf(path: readonly string[]): string {
  return JSON.stringify(path);
}

function textOf(path: readonly string[]): string {
  return path.length === 0 ? '.' : path.map((step) => step.replaceAll('.', '\\.')).join('.');
}
