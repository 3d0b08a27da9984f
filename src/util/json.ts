/** A JSON value as it travels over the wire. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object; readonly all the way down. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Is this a JSON object (not null, not a list)? */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
