import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { objectField, stringField, withField } from '../json-fields.ts';
import type { ServedKind } from '../kinds/index.ts';
import type { FieldValidation } from '../request/index.ts';
import { DecodeError } from '../schema/index.ts';
import { badRequest, type StatusError, unsupportedMediaType } from '../status/index.ts';
import { findDuplicateFields } from './duplicate-fields.ts';
import type { RestContext, Target } from './rest-context.ts';

const jsonType = 'application/json';
const yamlType = 'application/yaml';

export interface ReadBody {
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}

export interface BodySource {
  readonly text: string;
  readonly contentType: string;
  readonly fieldValidation: FieldValidation;
}

/**
 * Reads the body of a create or update into an object of the target's kind.
 * @throws StatusError 400 for what is none, 415 for a media type that nobody reads.
 */
export function readBody(context: RestContext, target: Target, source: BodySource): ReadBody {
  const { kind } = target;
  const { text, contentType, fieldValidation } = source;
  const object = parseObject(context, kind, source);
  assertKind(kind, object);
  const decoded = decodeOrRefuse(kind, object);
  const isYaml = mediaType(contentType) === yamlType;
  const duplicates = fieldValidation === 'Ignore' || isYaml ? [] : findDuplicateFields(text);
  const problems = [
    ...duplicates.map((path) => `duplicate field "${path}"`),
    ...decoded.unknownFields.map((path) => `unknown field "${path}"`),
  ];
  if (problems.length > 0 && fieldValidation === 'Strict')
    throw unhandled(kind, `strict decoding error: ${problems.join(', ')}`);
  const warnings = fieldValidation === 'Warn' ? problems : [];
  return { object: decoded.object, warnings };
}

/** The media type without its parameters. */
export function mediaType(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

function parseObject(context: RestContext, kind: ServedKind, source: BodySource): JsonObject {
  const { text, contentType } = source;
  const type = mediaType(contentType);
  const parsed =
    type === yamlType
      ? parseYamlBody(context, text)
      : type === jsonType || type === ''
        ? parseJsonBody(kind, text)
        : undefined;
  if (parsed === undefined)
    throw unsupportedMediaType([jsonType, yamlType, 'application/vnd.kubernetes.protobuf']);
  if (isJsonObject(parsed)) return parsed;
  const what = `json: cannot unmarshal ${Array.isArray(parsed) ? 'array' : typeof parsed}`;
  throw badRequest(
    `couldn't get version/kind; json parse error: ${what} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  );
}

function parseYamlBody(context: RestContext, text: string): Json {
  const { parseYaml } = context;
  if (parseYaml === undefined) throw unsupportedMediaType([jsonType]);
  try {
    return parseYaml(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw badRequest(`error converting YAML to JSON: ${message}`);
  }
}

function parseJsonBody(kind: ServedKind, text: string): Json {
  if (text === '') {
    const what = `the object provided is unrecognized (must be of type ${kind.names.kind}): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)`;
    throw badRequest(what);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const problem = jsonProblem(text, error);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind.names.kind}): couldn't get version/kind; json parse error: ${problem} (${summary(text)})`,
    );
  }
}

/** The first bytes of a body as the server shows them. */
function summary(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const hex = Array.from(bytes.slice(0, 30), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return bytes.length > 30 ? `${hex} ...` : hex;
}

function jsonProblem(text: string, error: SyntaxError): string {
  const place = /position (\d+)/.exec(error.message)?.[1];
  if (place === undefined) return 'unexpected end of JSON input';
  const character = text.charAt(Number(place));
  if (character === '') return 'unexpected end of JSON input';
  return `invalid character '${character}' looking for beginning of value`;
}

function assertKind(kind: ServedKind, object: JsonObject): void {
  const { names, apiVersion } = kind;
  const said = { kind: stringField(object, 'kind'), apiVersion: stringField(object, 'apiVersion') };
  if (!kind.isCustom && !said.kind && (!said.apiVersion || said.apiVersion === apiVersion)) return;
  if (!said.kind) throw headMissing('Kind', object);
  if (!said.apiVersion && kind.isCustom) throw headMissing('apiVersion', object);
  if (said.kind === names.kind && (!said.apiVersion || said.apiVersion === apiVersion)) return;
  if (said.kind === names.kind || said.apiVersion !== apiVersion)
    throw badRequest(
      `the API version in the data (${said.apiVersion}) does not match the expected API version (${apiVersion})`,
    );
  const version = JSON.stringify(versionOf(said.apiVersion));
  throw badRequest(
    `${said.kind} in version ${version} cannot be handled as a ${names.kind}: converting (${said.kind}) to (${names.kind}): unknown conversion`,
  );
}

function versionOf(apiVersion: string | undefined): string {
  return apiVersion?.split('/').at(-1) ?? '';
}

function headMissing(what: string, object: JsonObject): StatusError {
  return badRequest(`Object '${what}' is missing in '${JSON.stringify(object)}'`);
}

function decodeOrRefuse(kind: ServedKind, object: JsonObject) {
  try {
    const head = { apiVersion: kind.apiVersion, kind: kind.names.kind };
    return kind.decode({ ...object, ...head });
  } catch (error) {
    if (error instanceof DecodeError) throw unhandled(kind, error.message);
    throw error;
  }
}

/** A body of the right kind that cannot be read into it. */
export function unhandled({ names }: ServedKind, because: string): StatusError {
  const { kind, version } = names;
  return badRequest(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${because}`,
  );
}

/** @throws StatusError 400 when the object names another namespace than the request. */
export function withRequestNamespace(target: Target, object: JsonObject): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  const said = stringField(metadata, 'namespace') ?? '';
  const { namespace, kind } = target;
  const wanted = kind.names.namespaced ? namespace : '';
  if (said === wanted) return object;
  if (said !== '')
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  return withField(object, 'metadata', withField(metadata, 'namespace', wanted));
}
