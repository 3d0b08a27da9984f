import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';

/** Names of JavaScript that are no fields of JSON. */
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);

/** The steps of a field path: `auth.password`; a dot in a name is written `\.`. Undefined: it is not valid. Pure. */
export function fieldPathOf(text: string): readonly string[] | undefined {
  const steps = text.split(/(?<!\\)\./).map((step) => step.replaceAll('\\.', '.'));
  return steps.some((step) => step === '' || forbidden.has(step)) ? undefined : steps;
}

/** The value at a field path. Undefined: there is none. Pure. */
export function valueAtPath(value: Json | undefined, steps: readonly string[]): Json | undefined {
  let current = value;
  for (const step of steps) {
    if (!isJsonObject(current) || !Object.hasOwn(current, step)) return undefined;
    current = current[step];
  }
  return current;
}

/** A copy with a value at a field path; objects on the way are created. Pure. */
export function withValueAt(value: JsonObject, steps: readonly string[], field: Json): JsonObject {
  const [first, ...others] = steps;
  if (first === undefined) return value;
  if (others.length === 0) return { ...value, [first]: field };
  const inner = value[first];
  return { ...value, [first]: withValueAt(isJsonObject(inner) ? inner : {}, others, field) };
}
