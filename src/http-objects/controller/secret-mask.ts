import { isJsonObject, type Json } from '../../util/json.ts';

/** Shorter values are parts of words. */
const minLength = 4;

/** A text without the values of Secrets, also in the forms in which requests have them. Pure. */
export function maskSecrets(text: string, values: readonly string[]): string {
  let masked = text;
  for (const value of values) {
    const trimmed = value.trim();
    if (trimmed.length < minLength) continue;
    for (const form of new Set([value, trimmed, encodeURIComponent(trimmed), jsonText(trimmed)]))
      masked = masked.replaceAll(form, '…');
  }
  return masked;
}

/** A JSON value without values of Secrets in its texts. Pure. */
export function maskedJson(value: Json, mask: (text: string) => string): Json {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item: Json) => maskedJson(item, mask));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, field]) => [
    mask(name),
    field === undefined ? undefined : maskedJson(field, mask),
  ]);
  return Object.fromEntries(entries);
}

function jsonText(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
