import { isJsonObject } from '#util/json.ts';

/** A shrink ends after this many attempts. */
const mostAttempts = 3_000;

/** A smaller value that still fails: fields and items are removed as long as it does. Yields after each attempt. */
export function* shrink(
  value: unknown,
  fails: (value: unknown) => boolean,
): Generator<undefined, unknown, undefined> {
  let current = value;
  let attempts = 0;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const candidate of smaller(current)) {
      if (++attempts > mostAttempts) return current;
      yield;
      if (!fails(candidate)) continue;
      current = candidate;
      isSmaller = true;
      break;
    }
  }
  return current;
}

/** Values that are one step smaller, the smallest first. */
function* smaller(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const index of value.keys()) yield value.filter((_, other) => other !== index);
    for (const [index, item] of value.entries())
      for (const each of smaller(item)) yield value.with(index, each);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const name of Object.keys(value)) {
    const { [name]: _, ...rest } = value;
    yield rest;
  }
  for (const [name, field] of Object.entries(value))
    for (const each of smaller(field)) yield { ...value, [name]: each };
}
