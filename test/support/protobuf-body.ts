import { MessageTable } from '#sandbox/protobuf/wire-reader.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';

const meta = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** An object of a built-in kind as a protobuf body; undefined when its kind has no message. */
export function protobufBody(object: JsonObject): Uint8Array | undefined {
  const table = new MessageTable();
  const { apiVersion, kind, ...rest } = object;
  const message = table.messageOf(`${apiVersion}/${kind}`);
  if (message === undefined) return undefined;
  const head = [...textField(1, String(apiVersion)), ...textField(2, String(kind))];
  const raw = encodeMessage(table, message, rest);
  return Uint8Array.from([0x6b, 0x38, 0x73, 0, ...bytesField(1, head), ...bytesField(2, raw)]);
}

function encodeMessage(table: MessageTable, message: string, object: JsonObject): number[] {
  const bytes: number[] = [];
  for (const [number, field] of table.fields(message)) {
    const { name, type, form } = field;
    if (form === 'inlined') {
      const inner = encodeMessage(table, type, object);
      if (inner.length > 0) bytes.push(...bytesField(number, inner));
      continue;
    }
    const value = object[name];
    if (value === undefined || value === null) continue;
    for (const item of form === 'list' ? (value as readonly Json[]) : [value]) {
      if (form === 'map' && isJsonObject(item))
        bytes.push(...mapField({ table, number, type, map: item }));
      else bytes.push(...valueField({ table, number, type, value: item }));
    }
  }
  return bytes;
}

interface Encoding {
  readonly table: MessageTable;
  readonly number: number;
  readonly type: string;
}

function mapField({ map, number, ...rest }: Encoding & { readonly map: JsonObject }): number[] {
  return Object.entries(map).flatMap(([key, value]) =>
    bytesField(number, [
      ...textField(1, key),
      ...valueField({ ...rest, number: 2, value: value ?? null }),
    ]),
  );
}

function valueField({ table, number, type, value }: Encoding & { readonly value: Json }): number[] {
  switch (type) {
    case 'string':
      return textField(number, String(value));
    case 'bool':
      return numberField(number, value === true ? 1 : 0);
    case 'int32':
    case 'int64':
      return numberField(number, Number(value));
    case 'bytes':
      return bytesField(number, [...Buffer.from(String(value), 'base64')]);
    case `${meta}.Time`:
    case `${meta}.MicroTime`:
      return bytesField(number, timeBytes(String(value)));
    case 'k8s.io.apimachinery.pkg.runtime.RawExtension':
    case `${meta}.FieldsV1`:
      return bytesField(number, textField(1, JSON.stringify(value)));
    case 'k8s.io.apimachinery.pkg.api.resource.Quantity':
      return bytesField(number, textField(1, String(value)));
    case 'k8s.io.apimachinery.pkg.util.intstr.IntOrString':
      return bytesField(
        number,
        typeof value === 'number'
          ? [...numberField(1, 0), ...numberField(2, value), ...textField(3, '')]
          : [...numberField(1, 1), ...numberField(2, 0), ...textField(3, String(value))],
      );
    default: {
      if (!isJsonObject(value)) throw new Error(`Expected an object for ${type}`);
      return bytesField(number, encodeMessage(table, type, value));
    }
  }
}

function timeBytes(text: string): number[] {
  const ms = Date.parse(text);
  const micros = Number(/\.(\d{1,6})/.exec(text)?.[1]?.padEnd(6, '0') ?? 0);
  return [...numberField(1, Math.floor(ms / 1000)), ...numberField(2, micros * 1000)];
}

function textField(number: number, text: string): number[] {
  return bytesField(number, [...new TextEncoder().encode(text)]);
}

function bytesField(number: number, bytes: readonly number[]): number[] {
  return [...varint(BigInt((number << 3) | 2)), ...varint(BigInt(bytes.length)), ...bytes];
}

function numberField(number: number, value: number): number[] {
  return [...varint(BigInt(number << 3)), ...varint(BigInt.asUintN(64, BigInt(value)))];
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}
