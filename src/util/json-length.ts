/** Roughly the characters of a value as JSON, never too few by much; texts are not looked into. */
export function jsonLength(value: unknown): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null) return 24;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += jsonLength(item);
  else {
    for (const key in value) {
      size += key.length + 4 + jsonLength((value as Readonly<Record<string, unknown>>)[key]);
    }
  }
  return size;
}
