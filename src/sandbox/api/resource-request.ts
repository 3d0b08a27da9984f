import type { Clock } from '#util/clock.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { objectField } from '../json-fields.ts';
import { applyPatchType, type Subresource } from '../kinds/served-kind.ts';
import { pathSegment } from '../metadata/name-rules.ts';
import type { ProtobufReader } from '../protobuf/read-protobuf.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  readFlag,
  readWriteOptions,
} from '../request/write-options.ts';
import { createObject, reviewObject, tryCreate } from '../rest/create-object.ts';
import { deleteObject, deleteStored } from '../rest/delete-object.ts';
import { readDeleteOptions } from '../rest/delete-options.ts';
import { readListOptions } from '../rest/list-options.ts';
import { assertNotTruncated, withTruncatedValues } from '../rest/nesting.ts';
import { mediaType } from '../rest/parse-json.ts';
import { patchObject } from '../rest/patch-object.ts';
import { getObject, listObjects } from '../rest/read-objects.ts';
import type { RestAnswer, RestContext, Target } from '../rest/rest-context.ts';
import { getScale, patchScale, updateScale } from '../rest/scale.ts';
import { updateObject } from '../rest/update-object.ts';
import {
  badRequest,
  methodNotAllowed,
  methodNotSupported,
  notFound,
  notModelled,
  plainError,
  unknownPath,
  unsupportedMediaType,
} from '../status/api-errors.ts';
import { PageNotFound, StatusError } from '../status/status-error.ts';
import { watchObjects } from '../watch/watch-objects.ts';
import { negotiate, type Representation } from './negotiation.ts';
import type { ResourceRoute } from './route.ts';
import {
  eventConverter,
  jsonAnswer,
  jsonTextAnswer,
  listText,
  objectConverter,
  textAnswer,
  type View,
  withWarning,
} from './shape-answer.ts';

interface ResourceRequest {
  readonly rest: RestContext;
  readonly clock: Clock;
  readonly protobuf: ProtobufReader;
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly route: ResourceRoute;
}

interface Call extends ResourceRequest {
  readonly target: Target;
  readonly representation: Representation;
}

/** Answers a request to a collection or an object. @throws StatusError */
export function handleResource(resource: ResourceRequest): ApiAnswer {
  const { plural, group, subresource } = resource.route;
  if (subresource === 'log' && plural === 'pods' && group === '') return answerLog(resource);
  const target = findTarget(resource);
  const representation = negotiate({
    accept: resource.request.headers.accept,
    isDiscovery: false,
    route: target.kind.isCustom ? undefined : target.name === '' ? 'collection' : 'object',
  });
  const request = withTextBody(resource, target);
  const call = { ...resource, request, target, representation };
  const body = withTruncatedValues(request.body);
  try {
    const answer = body === request.body ? callTarget(call) : callWithTruncatedValues(call, body);
    return withWarning(answer, target.kind.deprecation);
  } catch (error) {
    throw withDeprecation(error, target.kind.deprecation);
  }
}

/**
 * What a strict create in a collection would store, without field owners. Stores nothing.
 * @throws StatusError, or PageNotFound where nothing is served
 */
export function tryCreateIn(
  rest: RestContext,
  route: ResourceRoute,
  object: JsonObject,
): JsonObject {
  return tryCreate(rest, findTarget({ rest, route }), object);
}

/** Adds the deprecation warning to rejections too. */
function withDeprecation(error: unknown, deprecation: string | undefined): unknown {
  if (deprecation === undefined || !(error instanceof StatusError)) return error;
  return error.withWarnings([deprecation]);
}

function callTarget(call: Call): ApiAnswer {
  return call.target.name === '' ? callCollection(call) : callObject(call);
}

/** Truncates values that are nested too deep. Storing an object with a truncated value is answered with 501. */
function callWithTruncatedValues(call: Call, body: string): ApiAnswer {
  const rest = { ...call.rest, assertStorable: assertNotTruncated };
  return callTarget({ ...call, rest, request: { ...call.request, body } });
}

/** The sandbox runs no containers: the log is one line that says so, and empty before the pod is bound to a node. */
function answerLog({ rest, route, request }: ResourceRequest): ApiAnswer {
  const pods = rest.kinds.find('', 'v1', 'pods');
  const { namespace, name } = route;
  if (pods === undefined || request.method !== 'GET') throw methodNotAllowed();
  const pod = getObject(rest, { kind: pods, namespace, name, subresource: '' }, '');
  if (objectField(pod, 'spec')?.nodeName === undefined) return textAnswer('');
  return textAnswer(`The sandbox runs no containers: the log of pod "${name}" is empty.\n`);
}

/** Converts a protobuf body to JSON. Custom kinds have no protobuf: their field numbers are unknown. */
function withTextBody({ request, protobuf }: ResourceRequest, { kind }: Target): ApiRequest {
  const { headers, bytes } = request;
  if (bytes === undefined) return request;
  if (kind.isCustom) throw unsupportedMediaType(['application/json', 'application/yaml']);
  const isPatch = request.method === 'PATCH';
  if (isPatch) throw unsupportedMediaType(kind.patchTypes);
  const body = JSON.stringify(protobuf.read(bytes));
  return { ...request, body, headers: { ...headers, 'content-type': 'application/json' } };
}

function findTarget({ rest, route }: Pick<ResourceRequest, 'rest' | 'route'>): Target {
  const { group, version, plural, namespace, name, subresource } = route;
  const kind = rest.kinds.find(group, version, plural);
  if (kind === undefined) throw notServed(rest, group, version);
  const isMisplaced =
    (namespace !== '' && !kind.names.namespaced) ||
    // A namespaced object needs a namespace in its path.
    (name !== '' && namespace === '' && kind.names.namespaced);
  if (isMisplaced) throw kind.isCustom ? new PageNotFound() : unknownPath();
  assertNames(kind, route);
  return { kind, namespace, name, subresource: subresourceOf(kind, name, subresource) };
}

/** Rejects names that would leave the collection in the server's store. @throws StatusError */
function assertNames(kind: Target['kind'], { namespace, name }: ResourceRoute): void {
  const [problem] = pathSegment(name);
  if (problem !== undefined)
    throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problem}`);
  if (namespace !== '.' && namespace !== '..') return;
  const { group, plural } = kind.names;
  throw plainError(`invalid key: "/${kind.isCustom ? `${group}/` : ''}${plural}/${namespace}"`);
}

/** A different part of the server serves groups of CRDs; its answer to an unknown resource differs. */
function notServed(rest: RestContext, group: string, version: string): Error {
  const isBuiltin = rest.kinds
    .all()
    .some(({ names, isCustom }) => !isCustom && names.group === group && names.version === version);
  return isBuiltin ? unknownPath() : new PageNotFound();
}

function subresourceOf(kind: Target['kind'], name: string, subresource: string): Subresource {
  if (subresource === '') return '';
  if (subresource === 'status' && kind.hasStatus) return 'status';
  if (subresource === 'scale' && kind.scale !== undefined) return 'scale';
  if (kind.isCustom) throw notFound(kind.names, name);
  if (subresource === 'status' || subresource === 'scale') throw unknownPath();
  throw notModelled(`the subresource "${subresource}" of ${kind.names.plural}`);
}

function unknownMethod({ target, request }: Call): Error {
  const { kind } = target;
  if (!kind.isCustom) return methodNotAllowed();
  const verbs: Record<string, string> = { PUT: 'update', POST: 'create', PATCH: 'patch' };
  const verb = verbs[request.method] ?? request.method.toLowerCase();
  return methodNotSupported(kind.names, verb);
}

function callCollection(call: Call): ApiAnswer {
  const { request, target } = call;
  if (target.kind.review !== undefined) return callReview(call);
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return readFlag(call.query, 'watch') === true ? watch(call) : list(call);
    case 'POST':
      if (target.kind.names.namespaced && target.namespace === '')
        throw target.kind.isCustom ? new PageNotFound() : methodNotAllowed();
      return toAnswer(call, createObject(call.rest, target, writeRequest(call, 'CreateOptions')));
    case 'DELETE':
      return deleteCollection(call);
    default:
      throw unknownMethod(call);
  }
}

/** Answers a review, which is not stored. */
function callReview(call: Call): ApiAnswer {
  const { request, rest, target } = call;
  const matchesScope = (target.namespace !== '') === target.kind.names.namespaced;
  if (request.method !== 'POST' || !matchesScope) throw unknownMethod(call);
  return toAnswer(call, reviewObject(rest, target, writeRequest(call, 'CreateOptions')));
}

function callObject(call: Call): ApiAnswer {
  const { request, rest, target, query } = call;
  if (target.kind.review !== undefined) throw unknownPath();
  if (target.subresource === 'scale') return callScale(call);
  switch (request.method) {
    case 'GET':
    case 'HEAD': {
      const body = getObject(rest, target, query.get('resourceVersion') ?? '');
      return toAnswer(call, { code: 200, body, warnings: [] });
    }
    case 'PUT':
      return toAnswer(call, updateObject(rest, target, writeRequest(call, 'UpdateOptions')));
    case 'PATCH':
      return toAnswer(call, patchObject(rest, target, writeRequest(call, 'PatchOptions')));
    case 'DELETE':
      if (target.subresource !== '') throw unknownMethod(call);
      return toAnswer(call, deleteObject(rest, target, readDeleteOptions(request, query)));
    default:
      throw unknownMethod(call);
  }
}

function callScale(call: Call): ApiAnswer {
  const { request, rest, target } = call;
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return toAnswer(call, getScale(rest, target));
    case 'PUT':
      return toAnswer(call, updateScale(rest, target, writeRequest(call, 'UpdateOptions')));
    case 'PATCH':
      return toAnswer(call, patchScale(rest, target, writeRequest(call, 'PatchOptions')));
    default:
      throw unknownMethod(call);
  }
}

function writeRequest(
  { request, query }: Call,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
) {
  const contentType = request.headers['content-type'] ?? '';
  const userAgent = request.headers['user-agent'] ?? '';
  const isApply = kind === 'PatchOptions' && mediaType(contentType) === applyPatchType;
  const options = readWriteOptions({ kind, query, userAgent, isApply });
  return { text: request.body, contentType, options };
}

function toAnswer(call: Call, { code, body, warnings }: RestAnswer): ApiAnswer {
  const convert =
    isJsonObject(body) && body.kind !== 'Status' ? objectConverter(viewOf(call)) : undefined;
  return jsonAnswer(code, convert === undefined ? body : convert(body as JsonObject), warnings);
}

function viewOf({ target, representation, query, clock }: Call): View {
  return { kind: target.kind, representation, query, nowMs: clock.nowMs() };
}

function list(call: Call): ApiAnswer {
  const { rest, target, query } = call;
  const options = readListOptions({ kind: target.kind, query, isWatch: false });
  return jsonTextAnswer(200, listText(viewOf(call), listObjects(rest, target, options)));
}

function watch(call: Call): ApiAnswer {
  const { rest, clock, target, query } = call;
  const { kind, namespace } = target;
  const options = readListOptions({ kind, query, isWatch: true });
  const convert = eventConverter(viewOf(call), () => clock.nowMs());
  const convertBookmark = call.representation.kind === 'table' ? convert : undefined;
  const { store } = rest;
  const body = watchObjects({ store, clock, kind, namespace, options, convert, convertBookmark });
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

function deleteCollection(call: Call): ApiAnswer {
  const { rest, target, request, query } = call;
  const { kind } = target;
  const options = readListOptions({ kind, query, isWatch: false });
  const deletion = readDeleteOptions(request, query);
  const page = listObjects(rest, target, options);
  const warnings: string[] = [];
  for (const stored of page.items) {
    // As on the server, the request has no name.
    const one = { kind, namespace: stored.namespace, name: '', subresource: '' as const };
    warnings.push(...deleteStored(rest, one, { stored, options: deletion }).warnings);
  }
  return warnings.reduce(
    (answer, warning) => withWarning(answer, warning),
    jsonTextAnswer(200, listText(viewOf(call), page)),
  );
}
