import { encodeBase64 } from '#util/base64.ts';
import { isJsonObject, type Json } from '#util/json.ts';

/** Shorter values are parts of words. */
const minLength = 4;

/** A text without the values of Secrets, also in the forms in which requests have them. Pure. */
export function maskSecrets(text: string, values: readonly string[]): string {
  const forms = new Set(values.flatMap(formsOf));
  // Longer ones first: the rest of one that begins with another would stay.
  return [...forms]
    .sort((a, b) => b.length - a.length)
    .reduce((masked, form) => masked.replaceAll(form, '…'), text);
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

function formsOf(value: string): readonly string[] {
  const trimmed = value.trim();
  if (trimmed.length < minLength) return [];
  return [
    ...[value, trimmed, jsonText(trimmed), encodeURIComponent(trimmed)],
    ...[encodeBase64(value), encodeBase64(trimmed)],
    new URLSearchParams([['', trimmed]]).toString().slice(1),
  ];
}

function jsonText(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
