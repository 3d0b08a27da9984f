import type { Clock } from '#util/clock.ts';
import type { Json, JsonObject } from '#util/json.ts';
import {
  aggregatedDiscovery,
  coreVersions,
  groupDocument,
  groupList,
  resourceList,
} from '../discovery/group-list.ts';
import type { OpenApiDocuments } from '../discovery/openapi.ts';
import {
  openApiV2,
  openApiV2ContentType,
  openApiV2Message,
  openApiV2Protobuf,
} from '../discovery/openapi-v2.ts';
import type { ProtobufReader } from '../protobuf/read-protobuf.ts';
import type { ApiAnswer, ApiRequest } from '../request/write-options.ts';
import type { RestContext } from '../rest/rest-context.ts';
import {
  entityTooLarge,
  internalError,
  methodNotAllowed,
  unknownPath,
} from '../status/api-errors.ts';
import { PageNotFound, StatusError } from '../status/status-error.ts';
import { negotiate, wantsDescriptions } from './negotiation.ts';
import { handleResource, tryCreateIn } from './resource-request.ts';
import { parseRoute } from './route.ts';
import { jsonAnswer, textAnswer } from './shape-answer.ts';

interface HandlerContext {
  readonly rest: RestContext;
  readonly clock: Clock;
  readonly protobuf: ProtobufReader;
  readonly openApi: OpenApiDocuments;
  /** The body of the answer to `/version`. */
  readonly version: JsonObject;
  /** The prefix of all paths, as clients see it: `/secret`. */
  readonly basePath: string;
  /** Called with errors that are bugs of the sandbox. */
  readonly onInternalError: (error: unknown) => void;
}

/** The maximum length of a body, in characters. */
export const maxBodyLength = 3 * 1024 * 1024;

/** The answer to a body that is too large, also when the body was not read to its end. */
export function tooLargeAnswer(limitBytes: number): ApiAnswer {
  const rejection = entityTooLarge(`Request entity too large: limit is ${limitBytes}`);
  return jsonAnswer(rejection.status, rejection.body());
}

/** The answer to a request that is rejected before it is read. */
export function forbiddenAnswer(message: string): ApiAnswer {
  const rejection = new StatusError({ code: 403, reason: 'Forbidden', message, details: {} });
  return jsonAnswer(rejection.status, rejection.body());
}

/** Answers a request. Never throws: errors become answers with a Status. */
export function handleRequest(context: HandlerContext, request: ApiRequest): ApiAnswer {
  try {
    if (Math.max(request.body.length, request.bytes?.length ?? 0) > maxBodyLength)
      return tooLargeAnswer(maxBodyLength);
    return answerRequest(context, request);
  } catch (error) {
    if (error instanceof StatusError) return jsonAnswer(error.status, error.body(), error.warnings);
    if (error instanceof PageNotFound) return textAnswer(`${error.message}\n`, 404);
    context.onInternalError(error);
    const failure = internalError('the sandbox failed to answer');
    return jsonAnswer(failure.status, failure.body());
  }
}

/** Whether the server would create an object. */
export interface CreateVerdict {
  readonly isAccepted: boolean;
  /** The object as it would be stored, without field owners; or the Status of the rejection. */
  readonly body: JsonObject;
}

/** The verdict on a strict create in the collection of this path. Stores nothing. */
export function judgeCreate(rest: RestContext, path: string, object: JsonObject): CreateVerdict {
  const route = parseRoute(path);
  try {
    if (route.kind !== 'resource') throw new PageNotFound();
    return { isAccepted: true, body: tryCreateIn(rest, route.resource, object) };
  } catch (error) {
    if (error instanceof StatusError) return { isAccepted: false, body: error.body() };
    if (!(error instanceof PageNotFound)) throw error;
    return { isAccepted: false, body: { code: 404, message: error.message } };
  }
}

function answerRequest(context: HandlerContext, request: ApiRequest): ApiAnswer {
  const queryStart = request.path.indexOf('?');
  const path = queryStart < 0 ? request.path : request.path.slice(0, queryStart);
  const query = new URLSearchParams(queryStart < 0 ? '' : request.path.slice(queryStart + 1));
  const route = parseRoute(path);
  if (route.kind !== 'resource') assertRead(request);
  const kinds = context.rest.kinds.all();
  switch (route.kind) {
    case 'resource': {
      const { rest, clock, protobuf } = context;
      return handleResource({ rest, clock, protobuf, request, query, route: route.resource });
    }
    case 'group-versions':
      return answerGroupVersions(context, request, route.root);
    case 'group':
      return documentAnswer(groupDocument(kinds, route.group));
    case 'resources':
      return documentAnswer(resourceList(kinds, route.group, route.version));
    case 'openapi':
      return answerOpenApi(context, request, route.document);
    case 'openapi-v2':
      return answerOpenApiV2(request);
    case 'health':
      return textAnswer('ok');
    case 'version':
      return jsonAnswer(200, context.version);
    case 'malformed':
      return textAnswer('400 Bad Request', 400);
    case 'unknown':
      throw route.root === 'api' ? unknownPath() : new PageNotFound();
  }
}

function assertRead({ method }: ApiRequest): void {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed();
}

function answerGroupVersions(
  { rest }: HandlerContext,
  request: ApiRequest,
  root: 'api' | 'apis',
): ApiAnswer {
  const kinds = rest.kinds.all();
  const representation = negotiate({
    accept: request.headers.accept,
    isDiscovery: true,
    route: root === 'api' ? 'object' : undefined,
  });
  if (representation.kind !== 'discovery')
    return jsonAnswer(200, root === 'api' ? coreVersions() : groupList(kinds));
  const document = aggregatedDiscovery(kinds, root, representation.version);
  const type = `application/json;g=apidiscovery.k8s.io;v=${representation.version};as=APIGroupDiscoveryList`;
  return { ...jsonAnswer(200, document), headers: { 'content-type': type } };
}

function answerOpenApi(
  { openApi, rest, basePath }: HandlerContext,
  { headers: { accept } }: ApiRequest,
  document: string,
): ApiAnswer {
  const kinds = rest.kinds.all();
  if (document === '') return jsonAnswer(200, openApi.index(kinds, basePath));
  const text = openApi.document(kinds, document);
  if (text === undefined) throw new PageNotFound();
  const body = wantsDescriptions(accept) ? openApi.described(text) : text;
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

/**
 * kubectl reads version 2 for manifests of kind `List`, and skips its own validation of what the document does not describe: the server
 * validates each item. Version 2 of all kinds would be another half megabyte that nothing else reads.
 */
function answerOpenApiV2({ headers: { accept = '' } }: ApiRequest): ApiAnswer {
  if (!accept.includes(openApiV2Protobuf)) return jsonAnswer(200, openApiV2());
  return {
    status: 200,
    headers: { 'content-type': openApiV2ContentType },
    body: openApiV2Message(),
  };
}

function documentAnswer(document: Json | undefined): ApiAnswer {
  if (document === undefined) throw new PageNotFound();
  return jsonAnswer(200, document);
}
