import { deepEqual } from '#util/deep-equal.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { ApplyError } from '../apply/apply-error.ts';
import { goKind, goText } from '../go-value.ts';
import { objectField, stringField } from '../json-fields.ts';
import { withMetadata } from '../kinds/generation.ts';
import {
  applyPatchType,
  jsonPatchType,
  type ServedKind,
  strategicPatchType,
} from '../kinds/served-kind.ts';
import type { FieldValidation } from '../request/write-options.ts';
import { DecodeError } from '../schema/go-decode.ts';
import {
  applyStatusError,
  badRequest,
  conflict,
  invalid,
  notFound,
  plainError,
  unroutableMediaType,
  unsupportedMediaType,
} from '../status/api-errors.ts';
import { invalidField } from '../status/field-error.ts';
import { StrategicError } from '../strategic/item-order.ts';
import { strategicMerge } from '../strategic/strategic-merge.ts';
import type { WriteRequest } from './create-object.ts';
import { findDuplicateFields } from './duplicate-fields.ts';
import { insertObject, mutateNew, withBirthFields } from './insert-object.ts';
import { applyJsonPatch, applyMergePatch } from './json-patch.ts';
import {
  mediaType,
  NestingError,
  parseJson,
  parsePatch,
  parseStrategicPatch,
} from './parse-json.ts';
import { withRequestNamespace } from './read-body.ts';
import { replaceObject } from './replace-object.ts';
import {
  answerWithWarnings,
  inVersion,
  type RestAnswer,
  type RestContext,
  type Target,
} from './rest-context.ts';
import { assertTargetName, findStored } from './update-object.ts';

/** PATCH of an object or its status, with all patch types of its kind. */
export function patchObject(
  context: RestContext,
  target: Target,
  request: WriteRequest,
): RestAnswer {
  const type = mediaType(request.contentType);
  assertPatchType(target.kind, type);
  return type === applyPatchType
    ? applyObject(context, target, request)
    : patchStored(context, target, request);
}

/** @throws StatusError 415 */
export function assertPatchType({ isCustom, patchTypes }: ServedKind, type: string): void {
  if (patchTypes.includes(type)) return;
  throw isCustom ? unsupportedMediaType(patchTypes) : unroutableMediaType();
}

function patchStored(context: RestContext, target: Target, request: WriteRequest): RestAnswer {
  const { kind, subresource, name } = target;
  const { manager, dryRun, fieldValidation } = request.options;
  const stored = findStored(context, target);
  if (stored === undefined) throw notFound(kind.names, name);
  const live = inVersion(kind, stored);
  const patched = patchedDocument(kind, live, request);
  const { object, warnings } = decodePatched(target, patched, request);
  return answerWithWarnings(fieldValidation === 'Warn' ? warnings : [], () => {
    const named = withRequestNamespace(target, object);
    assertTargetName(target, named);
    const next = kind.fieldManager(subresource).update({ live, next: named, manager });
    const replaced = replaceObject(context, target, {
      stored,
      next,
      dryRun,
      isUidPrecondition: false,
    });
    return { code: 200, body: replaced.object, warnings: replaced.warnings };
  });
}

function patchedDocument(kind: ServedKind, live: JsonObject, request: WriteRequest): Json {
  const type = mediaType(request.contentType);
  const isStrategic = type === strategicPatchType;
  const patch = isStrategic ? parseStrategicPatch(request.text) : parsePatch(request.text);
  if (type === jsonPatchType) return applyJsonPatch(live, patch);
  if (!isJsonObject(patch)) {
    const found = Array.isArray(patch) ? 'array' : typeof patch;
    const problem = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
    throw badRequest(isStrategic ? problem : `error decoding patch: ${problem}`);
  }
  const { patchSchema } = kind;
  if (!isStrategic || patchSchema === undefined) return applyMergePatch(live, patch);
  return mergedOrRejected(() => strategicMerge(live, patch, patchSchema));
}

function mergedOrRejected(merge: () => JsonObject): JsonObject {
  try {
    return merge();
  } catch (error) {
    if (!(error instanceof StrategicError)) throw error;
    throw error.isMalformed ? badRequest(error.message) : plainError(error.message);
  }
}

function decodePatched(target: Target, patched: Json, request: WriteRequest) {
  const { kind } = target;
  const { fieldValidation } = request.options;
  // For a strategic merge patch the server shows the patch, for others the result.
  const isStrategic = mediaType(request.contentType) === strategicPatchType;
  const shown = isStrategic ? goText(parsePatch(request.text)) : JSON.stringify(patched);
  const reject = (detail: string) =>
    invalid({ group: '', kind: '' }, '', [invalidField('patch', shown, detail)]);
  if (!isJsonObject(patched)) throw reject('json: cannot unmarshal into an object');
  assertPatchedKind(target, patched);
  try {
    const decoded = kind.decode(patched);
    const problems = [
      ...duplicatesOf(request.text, fieldValidation),
      ...decoded.unknownFields.map((path) => `unknown field "${path}"`),
    ];
    if (problems.length > 0 && fieldValidation === 'Strict')
      throw reject(`strict decoding error: ${problems.join(', ')}`);
    return { object: decoded.object, warnings: problems };
  } catch (error) {
    if (error instanceof DecodeError) throw reject(error.message);
    throw error;
  }
}

function duplicatesOf(text: string, fieldValidation: FieldValidation): readonly string[] {
  if (fieldValidation === 'Ignore') return [];
  return findDuplicateFields(text).map((path) => `duplicate field "${path}"`);
}

function assertPatchedKind({ kind }: Target, patched: JsonObject): void {
  if (patched.apiVersion === kind.apiVersion && (kind.isCustom || patched.kind === kind.names.kind))
    return;
  const found = `${patched.apiVersion}, Kind=${patched.kind}`;
  throw badRequest(
    `the patched object is a ${found}, expected ${kind.apiVersion}, Kind=${kind.names.kind}`,
  );
}

function applyObject(context: RestContext, target: Target, request: WriteRequest): RestAnswer {
  const { kind, subresource, name } = target;
  const { manager, dryRun, force } = request.options;
  const config = parseConfig(context, request.text);
  assertApplied(target, config);
  const stored = findStored(context, target);
  if (stored === undefined && subresource !== '') throw notFound(kind.names, name);
  const live = stored && inVersion(kind, stored);
  const merged = withApplyErrors(() =>
    kind.fieldManager(subresource).apply({ live, config, manager, force }),
  );
  const whole = isUndefaulted(kind, merged, live) ? merged : withKindDefaults(target, merged);
  const next = withRequestNamespace(target, whole);
  assertTargetName(target, next);
  const warnings = duplicateWarnings(request);
  if (stored === undefined) {
    assertNoUid(target, next);
    const mutated = mutateNew(context, target, next, { dryRun });
    const created = withMetadata(withBirthFields(context, mutated), 'resourceVersion', undefined);
    const { object, warnings: policies } = insertObject(context, target, created, { dryRun });
    const warned = [...kind.warnings(object, undefined), ...policies];
    return { code: 201, body: object, warnings: [...warnings, ...warned] };
  }
  const replaced = replaceObject(context, target, {
    stored,
    next,
    dryRun,
    isUidPrecondition: false,
  });
  return { code: 200, body: replaced.object, warnings: [...warnings, ...replaced.warnings] };
}

/** An apply that changes nothing adds no defaults, which a converted object may lack. */
function isUndefaulted(kind: ServedKind, merged: JsonObject, live: JsonObject | undefined) {
  if (live === undefined || !kind.isCustom || kind.conversion === undefined) return false;
  const [next, before] = [merged, live].map((each) =>
    withMetadata(each, 'managedFields', undefined),
  );
  return deepEqual(next, before);
}

/** Adds defaults to a merged object, before validation. @throws StatusError 500 when it does not fit its type */
function withKindDefaults({ kind, name, namespace }: Target, merged: JsonObject): JsonObject {
  try {
    return kind.complete(merged);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const type = goKind(kind.apiVersion, kind.names.kind);
    const object = `${kind.names.namespaced ? namespace : ''}/${name}; ${type}`;
    throw plainError(
      `failed to convert new object (${object}) to proper version: unable to convert unstructured object to ${type}: ${error.message}`,
    );
  }
}

function duplicateWarnings({ text, options }: WriteRequest): readonly string[] {
  if (options.fieldValidation === 'Ignore' || !text.trimStart().startsWith('{')) return [];
  const duplicates = findDuplicateFields(text);
  if (duplicates.length === 0) return [];
  const problem = `error strict decoding YAML: error converting YAML to JSON: yaml: key "${duplicates[0]}" already set in map`;
  if (options.fieldValidation === 'Strict') throw badRequest(problem);
  return [problem];
}

/** @throws StatusError 400 when the configuration has another kind or name */
function assertApplied({ kind }: Target, config: JsonObject): void {
  const { apiVersion, names } = kind;
  const warned = {
    apiVersion: stringField(config, 'apiVersion'),
    kind: stringField(config, 'kind'),
  };
  if (warned.apiVersion === apiVersion && warned.kind === names.kind) return;
  throw badRequest(`invalid object type: ${goKind(warned.apiVersion ?? '', warned.kind ?? '')}`);
}

function assertNoUid({ kind, name }: Target, next: JsonObject): void {
  const uid = stringField(objectField(next, 'metadata') ?? {}, 'uid') ?? '';
  if (uid === '') return;
  const because = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw conflict(kind.names, name, because);
}

/** Parses the body of an apply. @throws StatusError 400 when it is not an object */
export function parseConfig({ parseYaml }: RestContext, text: string): JsonObject {
  const parsed = parseConfigText(text, parseYaml);
  if (isJsonObject(parsed)) return parsed;
  const what = Array.isArray(parsed) ? 'array' : typeof parsed;
  const target = 'Go value of type map[string]interface {}';
  throw badRequest(
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${what} into ${target}`,
  );
}

/** JSON is YAML, and most clients send JSON. */
function parseConfigText(text: string, parseYaml: ((text: string) => Json) | undefined): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof NestingError)
      throw badRequest(
        'error decoding YAML: error converting YAML to JSON: yaml: exceeded max depth of 10000',
      );
    if (!(error instanceof SyntaxError)) throw error;
    if (parseYaml === undefined) throw badRequest(`error decoding YAML: ${error.message}`);
  }
  try {
    return parseYaml(text);
  } catch (error) {
    const message = messageOf(error);
    throw badRequest(`error decoding YAML: ${message}`);
  }
}

/** Converts errors of the merge. @throws StatusError */
export function withApplyErrors(apply: () => JsonObject): JsonObject {
  try {
    return apply();
  } catch (error) {
    if (error instanceof ApplyError) throw applyStatusError(error);
    throw error;
  }
}
