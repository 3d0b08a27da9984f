import { HomeostatError } from '#util/homeostat-error.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { isZero } from '#util/zero-value.ts';
import { isJsonList, type MutableJsonObject, sortedKeys } from '../json-fields.ts';
import {
  type GoField,
  type GoScalar,
  type GoStruct,
  type GoType,
  goTypeName,
} from './go-type-builder.ts';
import { canonicalQuantity } from './quantity-text.ts';

/** A body that the server cannot decode to its kind, with the server's message. */
export class DecodeError extends HomeostatError<'undecodable'> {
  constructor(message: string) {
    super('undecodable', message);
  }
}

interface GoDecoded {
  readonly object: JsonObject;
  /** Paths that the type does not have. */
  readonly unknownFields: readonly string[];
}

/**
 * How the server reads an object: a body as JSON; what an apply has merged, from its parsed fields. Both keep empty lists and maps, which
 * validation tells from absent ones. As it is written into JSON again, an object keeps those that are always written; a stored one has none.
 */
type GoReader = 'json' | 'merged' | 'written' | 'stored';

/**
 * Decodes an object of a built-in kind to its Go type and encodes it again, as the server does. Removes unknown fields, nulls,
 * empty collections and omitted zeros; normalises times and bytes.
 * @throws DecodeError when a value has the wrong type
 */
export function goDecode(
  type: GoType,
  object: JsonObject,
  path = '',
  reader: GoReader = 'stored',
): GoDecoded {
  const unknown: string[] = [];
  const value = decode(type, object, {
    above: undefined,
    step: path,
    struct: type,
    field: undefined,
    typeName: undefined,
    reading: { unknown, reader, hasEmpty: false },
  });
  return { object: isJsonObject(value) ? value : {}, unknownFields: unknown };
}

/** One decoding of an object. */
interface Reading {
  readonly unknown: string[];
  readonly reader: GoReader;
  /** An empty list or map was kept: the structs around it are not in their stored form. */
  hasEmpty: boolean;
}

/** The path to a value; converted to text only for errors and unknown fields. */
interface Place {
  readonly above: Place | undefined;
  /** A name or an index; the whole path at the top. */
  readonly step: string | number;
  /** For type errors: the struct that contains the field. */
  readonly struct: GoType;
  /** Undefined = an item of a list or map, or the whole object. */
  readonly field: GoField | undefined;
  /** The name of the type, if it has one of its own. */
  readonly typeName: string | undefined;
  readonly reading: Reading;
}

/** The path in reports of unknown fields: `spec.list[0].x`. */
function pathOf({ above, step }: Place): string {
  if (above === undefined) return String(step);
  const path = pathOf(above);
  return typeof step === 'number' ? `${path}[${step}]` : childPath(path, step);
}

/** The path in type errors, without indices and keys. */
function goPathOf({ above, step, field }: Place): string {
  if (above === undefined) return '';
  const path = goPathOf(above);
  if (field === undefined) return path;
  const { embeddedIn } = field;
  return childPath(path, embeddedIn === undefined ? String(step) : `${embeddedIn}.${step}`);
}

/** Undefined = the value is omitted. */
function decode(type: GoType, value: Json, at: Place): Json | undefined {
  if (value === null && type.kind !== 'any') return undefined;
  switch (type.kind) {
    case 'any':
      if (type.schema !== undefined) checkSchema(type.schema, type.allowsBool === true, value, at);
      return value;
    case 'scalar':
      return decodeScalar(type, value, at);
    case 'list':
      if (!isJsonList(value)) throw mismatch(type, value, at);
      return decodeList(type.item, value, at);
    case 'map':
      if (!isJsonObject(value)) throw mismatch(type, value, at);
      return decodeMap(type.item, value, at);
    case 'struct':
      if (!isJsonObject(value)) throw mismatch(type, value, at);
      return decodeStruct(type, value, at);
  }
}

/** Such a value is decoded by its own rules: unknown fields are not reported. */
function checkSchema(schema: GoType, allowsBool: boolean, value: Json, at: Place): void {
  const reading = { ...at.reading, unknown: [] };
  if (isJsonObject(value)) decode(schema, value, { ...at, reading });
  else if (allowsBool && value !== null && typeof value !== 'boolean')
    throw new DecodeError('boolean or JSON schema expected');
}

function decodeList(itemType: GoType, value: readonly Json[], at: Place): readonly Json[] {
  const list = value.map((item, index) =>
    item === null ? zeroOf(itemType) : (decode(itemType, item, itemPlace(at, index)) ?? null),
  );
  return list.every((item, index) => item === value[index]) ? value : list;
}

function decodeMap(itemType: GoType, value: JsonObject, at: Place): JsonObject {
  const map: MutableJsonObject = {};
  const keys = sortedKeys(value);
  let { isSame } = keys;
  for (const key of keys.names) {
    const item = value[key] ?? null;
    const decoded = decodeItem(itemType, item, itemPlace(at, key)) ?? null;
    if (decoded !== item) isSame = false;
    setField(map, key, decoded);
  }
  return isSame ? value : map;
}

function decodeItem(type: GoType, item: Json, at: Place): Json | undefined {
  return item === null ? zeroOf(type) : decode(type, item, at);
}

const smallStruct = 5;

/** Returns the same object when encoding it changes nothing. */
function decodeStruct(type: GoStruct, value: JsonObject, at: Place): JsonObject {
  if (type.canonical.has(value)) return value;
  const written: WrittenField[] = [];
  let [isSame, last] = [true, -1];
  // In the order of the body: unknown fields are reported in this order.
  for (const [name, given = null] of Object.entries(value)) {
    const field = type.fields.get(name);
    if (field === undefined) {
      at.reading.unknown.push(childPath(pathOf(at), name));
      isSame = false;
      continue;
    }
    const isKept = isPlainText(field.type, given);
    const decoded = isKept ? given : decode(field.type, given, placeOf({ type, field, name }, at));
    if (decoded === undefined || isUnwritten(decoded, field, at.reading)) {
      isSame = false;
      continue;
    }
    if (decoded !== given || field.order < last) isSame = false;
    last = field.order;
    written.push({ order: field.order, name, value: decoded });
  }
  for (const [name, field] of type.alwaysWritten) {
    if (written.some((one) => one.order === field.order)) continue;
    isSame = false;
    written.push({ order: field.order, name, value: absentValue(type, name, at) });
  }
  const struct = isSame ? value : structOf(written);
  // For small structs, caching costs more than decoding again.
  if (written.length > smallStruct && !at.reading.hasEmpty) type.canonical.add(struct);
  return struct;
}

function structOf(written: WrittenField[]): JsonObject {
  written.sort((a, b) => a.order - b.order);
  const struct: MutableJsonObject = {};
  for (const { name, value } of written) setField(struct, name, value);
  return struct;
}

interface WrittenField {
  readonly order: number;
  readonly name: string;
  readonly value: Json;
}

/** The encoded value of a field that is absent. */
function absentValue(type: GoStruct, name: string, at: Place): Json {
  const field = type.fields.get(name);
  if (field?.defaultValue === undefined) return null;
  return (
    decode(field.type, field.defaultValue, placeOf({ type, field, name }, at)) ?? field.defaultValue
  );
}

/** Most fields are strings and stay unchanged. */
function isPlainText(type: GoType, value: Json): boolean {
  if (type.kind !== 'scalar' || typeof value !== 'string') return false;
  return type.go === 'string' && type.format === 'plain';
}

interface StructField {
  readonly type: GoStruct;
  readonly field: GoField;
  readonly name: string;
}

function placeOf({ type, field, name }: StructField, at: Place): Place {
  const { typeName } = field;
  return { above: at, step: name, struct: type, field, typeName, reading: at.reading };
}

function itemPlace(at: Place, step: string | number): Place {
  const { struct, reading, typeName } = at;
  const itemName = typeName?.replace(/^(?:\[\]|map\[string\])/, '');
  const own = itemName === typeName ? undefined : itemName;
  return { above: at, step, struct, field: undefined, typeName: own, reading };
}

function isEmptyCollection(type: GoType, value: Json): boolean {
  if (type.kind === 'any') return false;
  if (isJsonList(value)) return value.length === 0;
  return type.kind === 'map' && isJsonObject(value) && Object.keys(value).length === 0;
}

function isUnwritten(
  value: Json,
  { type, dropsZero, writesNull }: GoField,
  reading: Reading,
): boolean {
  if (isEmptyCollection(type, value)) {
    const isKept =
      reading.reader === 'json' ||
      reading.reader === 'merged' ||
      (reading.reader === 'written' && writesNull);
    if (isKept) reading.hasEmpty = true;
    return !isKept;
  }
  if (isJsonList(value)) return false;
  return dropsZero && isZero(value);
}

function zeroOf(type: GoType): Json {
  if (type.kind === 'struct') return goDecode(type, {}).object;
  if (type.kind !== 'scalar') return null;
  switch (type.format) {
    case 'quantity':
      return '0';
    case 'int-or-string':
      return 0;
    case 'plain':
      return type.go === 'string' ? '' : type.go === 'bool' ? false : 0;
    default:
      return type.format === 'bytes' ? '' : null;
  }
}

function decodeScalar(type: GoScalar, value: Json, at: Place): Json {
  switch (type.format) {
    case 'int-or-string':
      if (typeof value === 'string' || isInteger(value, 'int32')) return value;
      throw mismatch(type, value, at);
    case 'quantity':
      return decodeQuantity(value);
    case 'time':
    case 'micro-time':
      return decodeTime(type, value, at);
    case 'bytes':
      return decodeBytes(type, value, at);
    case 'plain':
      return decodePlain(type, value, at);
  }
}

function decodeQuantity(value: Json): Json {
  const text =
    typeof value === 'string' || typeof value === 'number'
      ? canonicalQuantity(value)
      : typeof value === 'bigint'
        ? canonicalQuantity(String(value))
        : undefined;
  if (text !== undefined) return text;
  throw new DecodeError(
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  );
}

function isInteger(value: Json, go: GoScalar['go']): value is number | bigint {
  if (typeof value === 'bigint') return go !== 'int32';
  if (typeof value !== 'number' || !Number.isInteger(value)) return false;
  return go !== 'int32' || value === (value | 0);
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
      if (typeof value === 'bigint') return Number(value);
      break;
    default:
      if (isInteger(value, type.go)) return value;
      if (typeof value === 'number' && at.reading.reader === 'merged')
        return convertNumber(value, type.go);
  }
  throw mismatch(type, value, at);
}

/** Go's conversion of a number drops the digits that are too many. */
function convertNumber(value: number, go: string): Json {
  if (Number.isInteger(value)) return Number(BigInt.asIntN(32, BigInt(value)));
  throw new DecodeError(`cannot convert float64 to ${go}`);
}

/** Truncates excess fraction digits and converts times to UTC. */
function decodeTime(type: GoScalar, value: Json, at: Place): Json {
  if (typeof value !== 'string') throw mismatch(type, value, at);
  if (type.format === 'time' && isCanonicalTime(value)) return value;
  // For a time with fractions the server requires exactly six digits.
  if (type.format === 'micro-time' && !/:\d\d\.\d{6}(?:Z|[+-])/.test(value))
    throw timeError(type, value);
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(value);
  const instant = match === null ? Number.NaN : Date.parse(`${match[1]}${match[3]}`);
  if (Number.isNaN(instant)) throw timeError(type, value);
  const seconds = new Date(instant).toISOString().slice(0, 19);
  if (type.format === 'time') return `${seconds}Z`;
  return `${seconds}.${(match?.[2] ?? '').padEnd(6, '0').slice(0, 6)}Z`;
}

/** Days after the 28th are checked in full. */
function isCanonicalTime(value: string): boolean {
  return /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}Z$/.test(
    value,
  );
}

function timeError(type: GoScalar, value: string): DecodeError {
  const zone = type.format === 'time' ? '' : '.000000';
  const layout = `2006-01-02T15:04:05${zone}Z07:00`;
  const extra = /T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)(.+)$/.exec(value)?.[1];
  if (extra !== undefined)
    return new DecodeError(`parsing time ${timeText(value)}: extra text: ${timeText(extra)}`);
  const rest = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(.*)$/.exec(value)?.[1];
  const [found, wanted] = rest === undefined ? [value, '2006'] : [rest, zone || 'Z07:00'];
  return new DecodeError(
    `parsing time ${timeText(value)} as "${layout}": cannot parse ${timeText(found)} as "${wanted}"`,
  );
}

/** The bytes of other characters than those of ASCII, as Go quotes a time. */
function timeText(text: string): string {
  const quoted = Array.from(new TextEncoder().encode(text), (byte) => {
    const character = String.fromCharCode(byte);
    if (byte >= 128 || byte < 32) return `\\x${byte.toString(16).padStart(2, '0')}`;
    return character === '"' || character === '\\' ? `\\${character}` : character;
  });
  return `"${quoted.join('')}"`;
}

/** Up to the padding, after which nothing may follow; with the line breaks that Go skips. */
const paddedBase64 =
  /^(?:(?:[A-Za-z0-9+/][\r\n]*){4})*(?:[A-Za-z0-9+/][\r\n]*){2}(?:=[\r\n]*=|[A-Za-z0-9+/][\r\n]*=)[\r\n]*/;

function decodeBytes(type: GoScalar, value: Json, at: Place): Json {
  if (isJsonList(value) && value.length > 0) {
    const item = value[0] ?? null;
    throw mismatch({ kind: 'scalar', go: 'uint8', format: 'plain' }, item, at);
  }
  if (typeof value !== 'string') throw mismatch(type, value, at);
  const text = value.replaceAll(/[\r\n]/g, '');
  const valid = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
  if (valid.test(text)) return text;
  const padded = paddedBase64.exec(value)?.[0].length;
  const bad = padded ?? /[^A-Za-z0-9+/]/.exec(text)?.index ?? text.length - (text.length % 4);
  const prefix = at.reading.reader === 'merged' ? 'error decoding from json: ' : '';
  throw new DecodeError(`${prefix}illegal base64 data at input byte ${bad}`);
}

function mismatch(type: GoType, value: Json, at: Place): DecodeError {
  const struct = at.struct.kind === 'struct' ? at.struct.name : '';
  const name = at.typeName ?? goTypeName(type);
  const target =
    at.reading.reader === 'merged'
      ? `Go value of type ${name}`
      : `Go struct field ${struct}.${goPathOf(at)} of type ${name}`;
  return new DecodeError(`json: cannot unmarshal ${jsonWord(type, value)} into ${target}`);
}

function jsonWord(type: GoType, value: Json): string {
  if (isJsonList(value)) return 'array';
  if (isJsonObject(value)) return 'object';
  if (typeof value === 'boolean') return 'bool';
  // The message contains a number only when it should be another one.
  const isOther = typeof value === 'number' && /^int/.test(goTypeName(type));
  return isOther ? `number ${value}` : typeof value;
}

function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
