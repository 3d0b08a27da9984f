import { isJsonObject, type JsonObject } from '#util/json.ts';

/**
 * The templates of a definition without integers of 2^53 or more, which a definition cannot hold as literals: an expression gives each
 * exactly. Pure.
 */
export function withExactIntegers(definition: JsonObject): JsonObject {
  const { spec } = definition;
  if (!isJsonObject(spec) || spec.children === undefined) return definition;
  return { ...definition, spec: { ...spec, children: exact(spec.children) as JsonObject } };
}

/** Does a value have an integer that a definition cannot hold as a literal? Pure. */
export function hasExactIntegers(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  if (Array.isArray(value)) return value.some(hasExactIntegers);
  return isJsonObject(value) && Object.values(value).some(hasExactIntegers);
}

function exact(value: unknown): unknown {
  if (typeof value === 'bigint') return `\${ $parseJson("${value}") }`;
  if (Array.isArray(value)) return value.map(exact);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, exact(each)]));
}
