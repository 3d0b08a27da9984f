import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { fieldOf, objectField, stringField, withField } from '../json-fields.ts';
import { configKey } from '../metadata/name-rules.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLong,
} from '../status/field-error.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { resourceNames } from './served-kind.ts';

const maxDataBytes = 1024 * 1024;

export const configMapRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    plural: 'configmaps',
    namespaced: true,
    shortNames: ['cm'],
  }),
  validate(object) {
    const [data, binary] = [
      objectField(object, 'data') ?? {},
      objectField(object, 'binaryData') ?? {},
    ];
    const clashes = Object.keys(data)
      .filter((key) => Object.hasOwn(binary, key))
      .map((key) => invalidField(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    return [
      ...keyErrors('data', data),
      ...clashes,
      ...keyErrors('binaryData', binary),
      ...sizeErrors('[]', data, binary),
    ];
  },
  validateUpdate: (object, before) => immutableErrors(object, before, ['data', 'binaryData']),
};

export const secretRules: BuiltinRules = {
  names: resourceNames({ apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true }),
  selectableFields: ['type'],
  fillDefaults(object) {
    const typed = stringField(object, 'type') ? object : withField(object, 'type', 'Opaque');
    return foldStringData(typed);
  },
  validate(object) {
    const data = objectField(object, 'data') ?? {};
    return [
      ...keyErrors('data', data),
      ...sizeErrors('data', data, {}),
      ...typeErrors(object, data),
    ];
  },
  immutable: { type: '' },
  validateUpdate: (object, before) => immutableErrors(object, before, ['data']),
};

/** `stringData` is write-only: its strings are moved to `data` and take precedence. */
function foldStringData(object: JsonObject): JsonObject {
  const texts = fieldOf(object, 'stringData');
  if (!isJsonObject(texts)) return object;
  const data = { ...objectField(object, 'data') };
  for (const [key, text] of Object.entries(texts))
    setField(data as never, key, base64(String(text)));
  return withField(withField(object, 'stringData', undefined), 'data', data);
}

function base64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** Required keys by type of Secret. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/basic-auth': ['username', 'password'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function typeErrors(object: JsonObject, data: JsonObject): readonly FieldError[] {
  const type = stringField(object, 'type') ?? '';
  const keys = requiredKeys[type] ?? [];
  const missing = keys.filter((key) => !Object.hasOwn(data, key));
  const isOneEnough = type === 'kubernetes.io/basic-auth';
  if (isOneEnough && missing.length < keys.length) return [];
  return [
    ...missing.map((key) => requiredField(`data[${key}]`)),
    ...(type.startsWith('kubernetes.io/dockerc') && missing.length === 0
      ? keys.flatMap((key) => credentialErrors(String(data[key] ?? ''), `data[${key}]`))
      : []),
  ];
}

/** Credentials of registries are a JSON object. */
function credentialErrors(base64Text: string, at: string): readonly FieldError[] {
  const problem = jsonObjectProblem(atob(base64Text));
  return problem === undefined ? [] : [invalidField(at, '<secret contents redacted>', problem)];
}

function keyErrors(field: string, data: JsonObject): readonly FieldError[] {
  return Object.keys(data).flatMap((key) =>
    configKey(key).map((message) => invalidField(`${field}[${key}]`, key, message)),
  );
}

function sizeErrors(field: string, data: JsonObject, binary: JsonObject): readonly FieldError[] {
  let size = 0;
  for (const text of [...Object.values(data), ...Object.values(binary)])
    size += String(text).length;
  return size > maxDataBytes ? [tooLong(field, maxDataBytes)] : [];
}

function immutableErrors(
  object: JsonObject,
  before: JsonObject,
  fields: readonly string[],
): readonly FieldError[] {
  if (before.immutable !== true) return [];
  const detail = 'field is immutable when `immutable` is set';
  const changed = fields.filter((field) => !deepEqual(object[field], before[field]));
  const names = object.immutable === true ? changed : ['immutable', ...changed];
  return names.map((name) => forbiddenField(name, detail));
}

/** Why a text is no JSON object, in the words of the server; undefined for an object. The positions of deeper errors are not searched for. */
function jsonObjectProblem(text: string): string | undefined {
  const trimmed = text.trim();
  const [first = '', second = ''] = trimmed;
  if (trimmed === '') return 'unexpected end of JSON input';
  const value = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|"[^"\\]*"|true|false|null)/.exec(
    trimmed,
  )?.[0];
  if (value !== undefined) {
    const next = trimmed.slice(value.length).trimStart().charAt(0);
    if (next !== '') return `invalid character '${next}' after top-level value`;
    if (value === 'null') return undefined;
    const type = /^[tf]/.test(value) ? 'bool' : value.startsWith('"') ? 'string' : 'number';
    return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  }
  if (first === '-') return `invalid character '${second}' in numeric literal`;
  if (!'{["tfn'.includes(first))
    return `invalid character '${first}' looking for beginning of value`;
  try {
    JSON.parse(trimmed);
    return first === '{'
      ? undefined
      : 'json: cannot unmarshal array into Go value of type map[string]interface {}';
  } catch (error) {
    const extra = /after JSON at position (\d+)/.exec(String(error))?.[1];
    if (extra !== undefined)
      return `invalid character '${trimmed.charAt(Number(extra))}' after top-level value`;
    return 'unexpected end of JSON input';
  }
}
