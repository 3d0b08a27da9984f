/** A JSON object, seen as its fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** Is this a JSON object (not null, not a list)? */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `[]` or `{}`. */
export function isEmptyCollection(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

/** A zero value of Go: `""`, `0`, `false`, `[]`, `{}`. */
export function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || isEmptyCollection(value);
}
