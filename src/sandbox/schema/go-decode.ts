import { HomeostatError } from '../../util/homeostat-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { isJsonList, type MutableJsonObject, setField } from '../json-fields.ts';
import { type GoField, type GoScalar, type GoStruct, type GoType, goTypeName } from './go-type.ts';
import { canonicalQuantity } from './quantity-text.ts';

/** A body that the server cannot read into the type of its kind, in the server's words. */
export class DecodeError extends HomeostatError<'undecodable'> {
  constructor(message: string) {
    super('undecodable', message);
  }
}

export interface GoDecoded {
  readonly object: JsonObject;
  /** Paths that the type does not have. */
  readonly unknownFields: readonly string[];
}

/**
 * What the server makes of an object of a built-in kind: read into its type and written again. Unknown
 * fields, nulls, empty collections and zeros that are not written disappear; times and bytes get one spelling.
 * @throws DecodeError when a value is of another type.
 */
export function goDecode(type: GoType, object: JsonObject, path = ''): GoDecoded {
  const unknown: string[] = [];
  const struct = type.kind === 'struct' ? type.name : '';
  const value = decode(type, object, { path, struct, goPath: '', unknown });
  return { object: isJsonObject(value) ? value : {}, unknownFields: unknown };
}

interface Place {
  /** For unknown fields: `spec.list[0].x`. */
  readonly path: string;
  /** For type errors: the struct that holds the field, and the field's path without indices. */
  readonly struct: string;
  readonly goPath: string;
  readonly unknown: string[];
}

/** Undefined = nothing that is written. */
function decode(type: GoType, value: Json, at: Place): Json | undefined {
  if (value === null && type.kind !== 'any') return undefined;
  switch (type.kind) {
    case 'any':
      return value;
    case 'scalar':
      return decodeScalar(type, value, at);
    case 'list':
      if (!isJsonList(value)) throw mismatch(type, value, at);
      return value.map((item, index) =>
        item === null
          ? zeroOf(type.item)
          : (decode(type.item, item, { ...at, path: `${at.path}[${index}]` }) ?? null),
      );
    case 'map':
      if (!isJsonObject(value)) throw mismatch(type, value, at);
      return decodeMap(type.item, value, at);
    case 'struct':
      if (!isJsonObject(value)) throw mismatch(type, value, at);
      return decodeStruct(type, value, at);
  }
}

function decodeMap(itemType: GoType, value: JsonObject, at: Place): JsonObject {
  const map: MutableJsonObject = {};
  for (const [key, item = null] of Object.entries(value)) {
    const place = { ...at, path: childPath(at.path, key) };
    const decoded = item === null ? zeroOf(itemType) : decode(itemType, item, place);
    setField(map, key, decoded ?? null);
  }
  return map;
}

function decodeStruct(type: GoStruct, value: JsonObject, at: Place): JsonObject {
  const said = new Map<string, Json | undefined>();
  // In the order of the body: so unknown fields are told.
  for (const [name, field = null] of Object.entries(value)) {
    const known = type.fields.get(name);
    if (known === undefined) at.unknown.push(childPath(at.path, name));
    else said.set(name, decode(known.type, field, placeOf(type, name, at)));
  }
  const struct: MutableJsonObject = {};
  for (const [name, field] of type.fields) {
    const decoded = said.get(name);
    if (decoded !== undefined && !isUnwritten(decoded, field)) setField(struct, name, decoded);
    else if (field.byDefault !== undefined) {
      const byDefault = decode(field.type, field.byDefault, placeOf(type, name, at));
      setField(struct, name, byDefault ?? field.byDefault);
    } else if (field.writesNull) setField(struct, name, null);
  }
  return struct;
}

function placeOf(type: GoStruct, name: string, at: Place): Place {
  return {
    path: childPath(at.path, name),
    struct: type.name,
    goPath: childPath(at.goPath, name),
    unknown: at.unknown,
  };
}

function isUnwritten(value: Json, { type, dropsZero }: GoField): boolean {
  if (isJsonList(value)) return value.length === 0 && type.kind !== 'any';
  if (isJsonObject(value))
    return (type.kind === 'map' || dropsZero) && Object.keys(value).length === 0;
  return dropsZero && (value === '' || value === 0 || value === false);
}

function zeroOf(type: GoType): Json {
  if (type.kind === 'struct') {
    const place = { path: '', struct: type.name, goPath: '', unknown: [] };
    return decodeStruct(type, {}, place);
  }
  if (type.kind !== 'scalar') return null;
  if (type.go === 'string') return '';
  return type.go === 'bool' ? false : 0;
}

function decodeScalar(type: GoScalar, value: Json, at: Place): Json {
  switch (type.format) {
    case 'int-or-string':
      if (typeof value === 'string' || typeof value === 'number') return value;
      throw mismatch(type, value, at);
    case 'quantity':
      return decodeQuantity(type, value, at);
    case 'time':
    case 'micro-time':
      return decodeTime(type, value, at);
    case 'bytes':
      return decodeBytes(type, value, at);
    case 'plain':
      return decodePlain(type, value, at);
  }
}

function decodeQuantity(type: GoScalar, value: Json, at: Place): Json {
  if (typeof value !== 'string' && typeof value !== 'number') throw mismatch(type, value, at);
  const text = canonicalQuantity(value);
  if (text !== undefined) return text;
  throw new DecodeError(
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  );
}

function decodePlain(type: GoScalar, value: Json, at: Place): Json {
  switch (type.go) {
    case 'string':
      if (typeof value === 'string') return value;
      break;
    case 'bool':
      if (typeof value === 'boolean') return value;
      break;
    case 'float64':
      if (typeof value === 'number') return value;
      break;
    default:
      if (typeof value === 'number' && Number.isInteger(value)) return value;
  }
  throw mismatch(type, value, at);
}

/** One of more fraction digits than the kind keeps is cut, and all times are in UTC. */
function decodeTime(type: GoScalar, value: Json, at: Place): Json {
  if (typeof value !== 'string') throw mismatch(type, value, at);
  // Of a time with fractions the server wants exactly six digits.
  if (type.format === 'micro-time' && !/:\d\d\.\d{6}(?:Z|[+-])/.test(value))
    throw timeError(type, value);
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(value);
  const instant = match === null ? Number.NaN : Date.parse(`${match[1]}${match[3]}`);
  if (Number.isNaN(instant)) throw timeError(type, value);
  const seconds = new Date(instant).toISOString().slice(0, 19);
  if (type.format === 'time') return `${seconds}Z`;
  return `${seconds}.${(match?.[2] ?? '').padEnd(6, '0').slice(0, 6)}Z`;
}

function timeError(type: GoScalar, value: string): DecodeError {
  const zone = type.format === 'time' ? '' : '.000000';
  const layout = `2006-01-02T15:04:05${zone}Z07:00`;
  const rest = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(.*)$/.exec(value)?.[1];
  const [found, wanted] = rest === undefined ? [value, '2006'] : [rest, zone || 'Z07:00'];
  return new DecodeError(
    `parsing time "${value}" as "${layout}": cannot parse "${found}" as "${wanted}"`,
  );
}

function decodeBytes(type: GoScalar, value: Json, at: Place): Json {
  if (typeof value !== 'string') throw mismatch(type, value, at);
  const text = value.replaceAll(/[\r\n]/g, '');
  const valid = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
  if (valid.test(text)) return text;
  const bad = /[^A-Za-z0-9+/]/.exec(text)?.index ?? text.length - (text.length % 4);
  throw new DecodeError(`illegal base64 data at input byte ${bad}`);
}

function mismatch(type: GoType, value: Json, at: Place): DecodeError {
  const target = `Go struct field ${at.struct}.${at.goPath} of type ${goTypeName(type)}`;
  return new DecodeError(`json: cannot unmarshal ${jsonWord(value)} into ${target}`);
}

function jsonWord(value: Json): string {
  if (isJsonList(value)) return 'array';
  if (isJsonObject(value)) return 'object';
  if (typeof value === 'boolean') return 'bool';
  // A number is named when it is of the wrong sort of number.
  return typeof value === 'number' && !Number.isInteger(value) ? `number ${value}` : typeof value;
}

function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
