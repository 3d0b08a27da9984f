/** `[]` or `{}`. */
export function isEmptyCollection(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

/** A zero value of Go: `""`, `0`, `false`, `[]`, `{}`. Not `null`: a nil pointer is no value. */
export function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || isEmptyCollection(value);
}
