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
