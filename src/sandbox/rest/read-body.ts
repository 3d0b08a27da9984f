import { parseJson as parseExactJson } from '#util/exact-json.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { objectField, stringField, withField } from '../json-fields.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import type { FieldValidation } from '../request/write-options.ts';
import { DecodeError } from '../schema/go-decode.ts';
import { badRequest, unsupportedMediaType } from '../status/api-errors.ts';
import { StatusError } from '../status/status-error.ts';
import { findDuplicateFields } from './duplicate-fields.ts';
import {
  assertCost,
  assertNesting,
  bodyTypes,
  isTypeOf,
  jsonType,
  NestingError,
  parseJson,
  yamlType,
} from './parse-json.ts';
import type { RestContext, Target } from './rest-context.ts';

interface ReadBody {
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}

interface BodySource {
  readonly text: string;
  readonly contentType: string;
  readonly fieldValidation: FieldValidation;
}

/**
 * Parses the body of a create or update as an object of the target's kind.
 * @throws StatusError 400 for an invalid body, 415 for an unsupported media type
 */
export function readBody(context: RestContext, target: Target, source: BodySource): ReadBody {
  const { text, contentType, fieldValidation } = source;
  const object = parseObject(context, target.kind, source);
  const isYaml = isTypeOf(contentType, yamlType);
  const checksNames = fieldValidation !== 'Ignore' && !isYaml;
  const duplicates = () => (checksNames ? findDuplicateFields(text) : []);
  return decodeBody(target.kind, object, { fieldValidation, text: () => text, duplicates });
}

interface DecodeOptions {
  readonly fieldValidation: FieldValidation;
  /** The body, for messages. */
  readonly text: () => string;
  /** The paths of fields that the body has twice. @default none */
  readonly duplicates?: () => readonly string[];
}

/** Decodes a parsed body as an object of the kind. @throws StatusError 400 for an invalid body */
export function decodeBody(kind: ServedKind, body: JsonObject, options: DecodeOptions): ReadBody {
  const { fieldValidation, text, duplicates } = options;
  assertKind({ kind, text }, body);
  const { object, unknownFields } = decodeOrReject(kind, body);
  const problems = [
    ...(duplicates?.() ?? []).map((path) => `duplicate field "${path}"`),
    ...unknownFields.map((path) => `unknown field "${path}"`),
  ];
  if (problems.length > 0 && fieldValidation === 'Strict')
    throw undecodableBody(kind, `strict decoding error: ${problems.join(', ')}`);
  return { object, warnings: fieldValidation === 'Warn' ? problems : [] };
}

function parseObject(context: RestContext, kind: ServedKind, source: BodySource): JsonObject {
  const { text, contentType } = source;
  const isYaml = isTypeOf(contentType, yamlType);
  if (!isYaml && !isTypeOf(contentType, jsonType)) throw unsupportedMediaType(bodyTypes);
  const parsed = isYaml ? parseYamlBody(context, kind, text) : parseJsonBody(kind, text);
  if (isJsonObject(parsed)) return parsed;
  if (parsed === null && !kind.isCustom) return {};
  const what = `json: cannot unmarshal ${Array.isArray(parsed) ? 'array' : typeof parsed}`;
  throw badRequest(
    `couldn't get version/kind; json parse error: ${what} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  );
}

function parseYamlBody({ parseYaml }: RestContext, kind: ServedKind, text: string): Json {
  if (parseYaml === undefined) throw unsupportedMediaType([jsonType]);
  try {
    assertNesting(text);
    assertCost(text);
    return asPlainJson(text) ?? parseYaml(text);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    if (error instanceof NestingError)
      throw unrecognized(kind, 'yaml: exceeded max depth of 10000', text);
    const message = messageOf(error);
    throw badRequest(`error converting YAML to JSON: ${message}`);
  }
}

/**
 * JSON is YAML, but the JSON parser is faster and allows deeper nesting. Undefined when the text is not JSON, or has duplicate
 * fields, which YAML rejects.
 */
function asPlainJson(text: string): Json | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    const parsed: Json = parseExactJson(text);
    return findDuplicateFields(text).length === 0 ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const parseFailure = "couldn't get version/kind; json parse error: ";

function parseJsonBody(kind: ServedKind, text: string): Json {
  if (text === '') throw unrecognized(kind, `${parseFailure}unexpected end of JSON input`, text);
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw unrecognized(kind, `${parseFailure}${jsonProblem(text, error)}`, text);
  }
}

/** The start of a body, as the server shows it. */
function summary(text: string): string {
  if (text === '') return '<empty>';
  if (text.startsWith('{')) return text.length > 30 ? `${text.slice(0, 30)} ...` : text;
  const bytes = new TextEncoder().encode(text);
  const hex = Array.from(bytes.slice(0, 30), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return bytes.length > 30 ? `${hex} ...` : hex;
}

function jsonProblem(text: string, error: SyntaxError): string {
  if (error instanceof NestingError) return error.message;
  const place = /position (\d+)/.exec(error.message)?.[1];
  if (place === undefined) return 'unexpected end of JSON input';
  const character = text.charAt(Number(place));
  if (character === '') return 'unexpected end of JSON input';
  return `invalid character '${character}' looking for beginning of value`;
}

/** Checks apiVersion and kind of a body. A custom resource of another kind passes here; its validation rejects it. */
function assertKind(
  { kind, text }: { readonly kind: ServedKind; readonly text: () => string },
  object: JsonObject,
): void {
  const { names, apiVersion, isCustom } = kind;
  const declared = {
    kind: stringField(object, 'kind'),
    apiVersion: stringField(object, 'apiVersion'),
  };
  if (!isCustom && !declared.kind && (!declared.apiVersion || declared.apiVersion === apiVersion))
    return;
  if (!declared.kind) throw unrecognized(kind, `Object 'Kind' is missing in '${text()}'`, text());
  const version = JSON.stringify(declared.apiVersion?.split('/').at(-1) ?? '');
  const cannot = `${declared.kind} in version ${version} cannot be handled as a ${names.kind}`;
  if (isCustom) {
    if (declared.apiVersion === apiVersion) return;
    throw badRequest(
      `the API version in the data (${declared.apiVersion ?? ''}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (declared.kind === names.kind && (!declared.apiVersion || declared.apiVersion === apiVersion))
    return;
  if (declared.apiVersion === apiVersion)
    throw badRequest(
      `${cannot}: converting (${names.version}.${declared.kind}) to (${names.group || 'core'}.${names.kind}): unknown conversion`,
    );
  throw badRequest(
    `${cannot}: no kind ${JSON.stringify(declared.kind)} is registered for version ${JSON.stringify(declared.apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
  );
}

function unrecognized({ names }: ServedKind, problem: string, text: string): StatusError {
  return badRequest(
    `the object provided is unrecognized (must be of type ${names.kind}): ${problem} (${summary(text)})`,
  );
}

function decodeOrReject(kind: ServedKind, object: JsonObject) {
  try {
    if (kind.isCustom) return kind.decode(object);
    return kind.decode({ ...object, apiVersion: kind.apiVersion, kind: kind.names.kind });
  } catch (error) {
    if (error instanceof DecodeError) throw undecodableBody(kind, error.message);
    throw error;
  }
}

/** A body of the right kind that cannot be decoded. */
function undecodableBody({ names }: ServedKind, because: string): StatusError {
  const { kind, version } = names;
  return badRequest(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${because}`,
  );
}

/** @throws StatusError 400 when the namespace of the object differs from that of the request */
export function withRequestNamespace(target: Target, object: JsonObject): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  const declared = stringField(metadata, 'namespace') ?? '';
  const { namespace, kind } = target;
  const expected = kind.names.namespaced ? namespace : '';
  if (declared === expected) return object;
  if (expected === '')
    return withField(object, 'metadata', withField(metadata, 'namespace', undefined));
  if (declared !== '')
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  return withField(object, 'metadata', withField(metadata, 'namespace', expected));
}
