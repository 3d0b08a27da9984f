import type { Json, JsonObject } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { fieldOf, isJsonList, type MutableJsonObject } from '../json-fields.ts';
import {
  type MessageField,
  type MessageTable,
  readFields,
  WireError,
  type WireField,
} from './wire-reader.ts';

const meta = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** Decodes a message to JSON. @throws WireError */
export function decodeMessage(table: MessageTable, message: string, bytes: Uint8Array): JsonObject {
  const fields = table.fields(message);
  const object: MutableJsonObject = {};
  for (const wire of readFields(bytes)) {
    const field = fields.get(wire.number);
    // An unknown field of a newer version: the server drops it, too.
    if (field !== undefined) addField(table, { object, field, wire });
  }
  return object;
}

interface Addition {
  readonly object: MutableJsonObject;
  readonly field: MessageField;
  readonly wire: WireField;
}

function addField(table: MessageTable, { object, field, wire }: Addition): void {
  const { name, type, form } = field;
  const before = fieldOf(object, name);
  switch (form) {
    case 'single':
      setField(object, name, decodeValue(table, type, wire.value));
      return;
    case 'list': {
      const item = decodeValue(table, type, wire.value);
      setField(object, name, [...(isJsonList(before) ? before : []), item]);
      return;
    }
    case 'map':
      setField(object, name, withEntry(table, type, { map: before, entry: bytesOf(wire.value) }));
      return;
    case 'inlined':
      Object.assign(object, decodeMessage(table, type, bytesOf(wire.value)));
  }
}

interface MapEntry {
  readonly map: Json | undefined;
  readonly entry: Uint8Array;
}

function withEntry(table: MessageTable, type: string, { map, entry }: MapEntry): JsonObject {
  const [key, value] = [1, 2].map((number) =>
    readFields(entry).find((field) => field.number === number),
  );
  const copy: MutableJsonObject = { ...(map as MutableJsonObject | undefined) };
  const empty = new Uint8Array();
  setField(
    copy,
    key === undefined ? '' : textOf(key.value),
    decodeValue(table, type, value?.value ?? (type === 'int32' || type === 'bool' ? 0n : empty)),
  );
  return copy;
}

function decodeValue(table: MessageTable, type: string, value: WireField['value']): Json {
  switch (type) {
    case 'string':
      return textOf(value);
    case 'bool':
      return numberOf(value) !== 0;
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'uint64':
      return numberOf(value);
    case 'double':
      return viewOf(value).getFloat64(0, true);
    case 'bytes':
      return base64(bytesOf(value));
    case `${meta}.Time`:
    case `${meta}.MicroTime`:
      return timeOf(bytesOf(value), type.endsWith('MicroTime'));
    case `${meta}.FieldsV1`:
    case 'k8s.io.apimachinery.pkg.runtime.RawExtension':
      return rawOf(bytesOf(value));
    case 'k8s.io.apimachinery.pkg.api.resource.Quantity':
      return textOf(firstOf(bytesOf(value)) ?? new Uint8Array());
    case 'k8s.io.apimachinery.pkg.util.intstr.IntOrString':
      return intOrString(bytesOf(value));
    default:
      return decodeObject(table, type, bytesOf(value));
  }
}

/** A message that only wraps a list is a list in JSON. */
function decodeObject(table: MessageTable, type: string, bytes: Uint8Array): Json {
  const object = decodeMessage(table, type, bytes);
  return type.endsWith('.ExtraValue') ? (object.items ?? []) : object;
}

function bytesOf(value: WireField['value']): Uint8Array {
  if (typeof value !== 'bigint') return value;
  throw new WireError('proto: wrong wireType = 0');
}

function numberOf(value: WireField['value']): number {
  if (typeof value === 'bigint') return Number(value);
  throw new WireError('proto: wrong wireType = 2');
}

function viewOf(value: WireField['value']): DataView {
  const bytes = bytesOf(value);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function textOf(value: WireField['value']): string {
  return new TextDecoder().decode(bytesOf(value));
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

function firstOf(bytes: Uint8Array): WireField['value'] | undefined {
  return readFields(bytes).find(({ number }) => number === 1)?.value;
}

/** An empty message is a time that is not set. */
function timeOf(bytes: Uint8Array, hasMicroseconds: boolean): Json {
  const fields = readFields(bytes);
  const part = (number: number) => {
    const found = fields.find((field) => field.number === number);
    return found === undefined ? 0 : numberOf(found.value);
  };
  if (fields.length === 0) return null;
  const seconds = new Date(part(1) * 1000).toISOString().slice(0, 19);
  if (!hasMicroseconds) return `${seconds}Z`;
  return `${seconds}.${String(Math.floor(part(2) / 1000)).padStart(6, '0')}Z`;
}

function rawOf(bytes: Uint8Array): Json {
  const raw = firstOf(bytes);
  const text = raw === undefined ? '' : textOf(raw);
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new WireError(`a raw value is no JSON: ${error.message}`);
  }
}

function intOrString(bytes: Uint8Array): Json {
  let [isText, number, text] = [false, 0, ''];
  for (const field of readFields(bytes)) {
    if (field.number === 1) isText = numberOf(field.value) === 1;
    else if (field.number === 2) number = numberOf(field.value);
    else if (field.number === 3) text = textOf(field.value);
  }
  return isText ? text : number;
}
