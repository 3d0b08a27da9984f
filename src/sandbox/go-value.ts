import { isJsonObject, type Json } from '#util/json.ts';
import { isJsonList } from './json-fields.ts';

/** How Go prints a decoded JSON value with `%v`. */
export function goText(value: Json): string {
  if (value === null) return '<nil>';
  if (isJsonList(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isJsonObject(value)) return String(value);
  const keys = Object.keys(value).sort();
  return `map[${keys.map((key) => `${key}:${goText(value[key] ?? null)}`).join(' ')}]`;
}

/** How Go prints a decoded JSON value with `%#v`. */
export function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)';
  if (isJsonList(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (typeof value === 'string') return goQuote(value);
  if (!isJsonObject(value)) return String(value);
  const keys = Object.keys(value).sort();
  const fields = keys.map((key) => `${goQuote(key)}:${goSyntax(value[key] ?? null)}`);
  return `map[string]interface {}{${fields.join(', ')}}`;
}

/** The Go type of a decoded JSON value, as `%T` prints it. */
export function goType(value: Json): string {
  if (value === null) return '<nil>';
  if (isJsonList(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map[string]interface {}';
}

/** A quoted string, as `%q` prints it; equal to JSON for nearly all names and values. */
export function goQuote(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u007f-\u00a0\u00ad]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** How Go prints a group, version and kind: `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`. */
export function goKind(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`;
}
