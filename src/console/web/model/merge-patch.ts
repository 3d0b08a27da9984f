import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json } from '#util/json.ts';

/** The JSON merge patch (RFC 7386) that leads from one value to another. Undefined: they are equal. */
export function mergePatch(before: unknown, after: unknown): Json | undefined {
  if (deepEqual(before, after)) return undefined;
  if (!isJsonObject(before) || !isJsonObject(after)) return after as Json;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const entries = [...names].flatMap((name): readonly [string, Json][] => {
    if (!Object.hasOwn(after, name)) return [[name, null]];
    const patch = mergePatch(before[name], after[name]);
    return patch === undefined ? [] : [[name, patch]];
  });
  return Object.fromEntries(entries);
}
