import { isJsonObject, type Json } from '#util/json.ts';
import { goQuote } from '../go-value.ts';
import { isJsonList } from '../json-fields.ts';

/** One validation error, with the server's message. */
export interface FieldError {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

export function requiredField(field: string, detail = ''): FieldError {
  const message = detail === '' ? 'Required value' : `Required value: ${detail}`;
  return { reason: 'FieldValueRequired', message, field };
}

export function notFoundField(field: string, value: string): FieldError {
  return { reason: 'FieldValueNotFound', message: `Not found: ${goQuote(value)}`, field };
}

export function invalidField(field: string, value: Json | undefined, detail: string): FieldError {
  const tail = detail === '' ? '' : `: ${detail}`;
  return {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${valueText(value)}${tail}`,
    field,
  };
}

/** Like `invalidField`, for a value whose fields keep their order. */
export function invalidStruct(field: string, value: Json, detail: string): FieldError {
  const message = `Invalid value: ${JSON.stringify(value)}: ${detail}`;
  return { reason: 'FieldValueInvalid', message, field };
}

export function wrongType(field: string, value: Json | undefined, detail: string): FieldError {
  return {
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${valueText(value)}: ${detail}`,
    field,
  };
}

export function duplicateField(field: string, value: Json): FieldError {
  return {
    reason: 'FieldValueDuplicate',
    message: `Duplicate value: ${valueText(value)}`,
    field,
  };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${detail}`, field };
}

export function unsupportedValue(
  field: string,
  value: Json | undefined,
  supported: readonly string[],
): FieldError {
  const list = supported.map((item) => goQuote(item)).join(', ');
  const tail = supported.length === 0 ? '' : `: supported values: ${list}`;
  const message = `Unsupported value: ${valueText(value)}${tail}`;
  return { reason: 'FieldValueNotSupported', message, field };
}

export function tooLong(field: string, maxBytes: number): FieldError {
  const message = `Too long: may not be more than ${maxBytes} ${maxBytes === 1 ? 'byte' : 'bytes'}`;
  return { reason: 'FieldValueTooLong', message, field };
}

export function tooMany(field: string, count: number, max: number): FieldError {
  const message = `Too many: ${count}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`;
  return { reason: 'FieldValueTooMany', message, field };
}

/** A value as the server prints it in these messages. */
function valueText(value: Json | undefined): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return goQuote(value);
  if (isJsonList(value) || isJsonObject(value)) return JSON.stringify(sorted(value));
  return String(value);
}

/** Go prints the keys of maps in order; of its structs, only label selectors have another order. */
function sorted(value: Json): Json {
  if (isJsonList(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const rank = (key: string) => (key === 'matchLabels' ? '' : key);
  const entries = Object.entries(value).sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1));
  return Object.fromEntries(entries.map(([key, field]) => [key, sorted(field ?? null)]));
}
