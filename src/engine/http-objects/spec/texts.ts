import { isJsonObject, type Json, pointerTo } from '#util/json.ts';

/** The texts in a value, each with its JSON pointer. Pure. */
export function* textsIn(value: Json, path: string): Generator<readonly [string, string]> {
  if (typeof value === 'string') yield [path, value];
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* textsIn(item, pointerTo(path, index));
  else if (isJsonObject(value))
    for (const [key, field] of Object.entries(value))
      if (field !== undefined) yield* textsIn(field, pointerTo(path, key));
}
