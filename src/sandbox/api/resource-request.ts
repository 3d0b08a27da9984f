import type { Clock } from '../../util/clock.ts';
import type { Subresource } from '../kinds/index.ts';
import { applyPatchType } from '../kinds/index.ts';
import type { ApiAnswer, ApiRequest } from '../request/index.ts';
import { readFlag, readWriteOptions } from '../request/index.ts';
import {
  createObject,
  deleteObject,
  deleteStored,
  getObject,
  getScale,
  listObjects,
  mediaType,
  patchObject,
  patchScale,
  type RestAnswer,
  type RestContext,
  readDeleteOptions,
  readListOptions,
  type Target,
  updateObject,
  updateScale,
} from '../rest/index.ts';
import { methodNotAllowed, notModelled, unknownPath } from '../status/index.ts';
import { watchObjects } from '../watch/index.ts';
import { jsonAnswer, jsonTextAnswer } from './answers.ts';
import { negotiate, type Shape } from './negotiation.ts';
import type { ResourceRoute } from './route.ts';
import { listText, metadataOnly } from './shape-answer.ts';

export interface ResourceRequest {
  readonly rest: RestContext;
  readonly clock: Clock;
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly route: ResourceRoute;
}

interface Call extends ResourceRequest {
  readonly target: Target;
  readonly shape: Shape;
}

/** A request to a collection or an object. @throws StatusError */
export function handleResource(resource: ResourceRequest): ApiAnswer {
  const target = findTarget(resource);
  const shape = negotiate(resource.request.headers.accept, false);
  const call = { ...resource, target, shape };
  return target.name === '' ? callCollection(call) : callObject(call);
}

function findTarget({ rest, route }: ResourceRequest): Target {
  const { group, version, plural, namespace, name, subresource } = route;
  const kind = rest.kinds.find(group, version, plural);
  if (kind === undefined) throw unknownPath();
  if (namespace !== '' && !kind.names.namespaced) throw unknownPath();
  // An object of a namespaced kind has its namespace in the path.
  if (name !== '' && namespace === '' && kind.names.namespaced) throw unknownPath();
  return { kind, namespace, name, subresource: subresourceOf(kind, subresource) };
}

function subresourceOf(kind: Target['kind'], subresource: string): Subresource {
  switch (subresource) {
    case '':
      return '';
    case 'status':
      if (kind.hasStatus) return 'status';
      throw unknownPath();
    case 'scale':
      if (kind.scale !== undefined) return 'scale';
      throw unknownPath();
    default:
      if (kind.isCustom) throw unknownPath();
      throw notModelled(`the subresource "${subresource}" of ${kind.names.plural}`);
  }
}

function callCollection(call: Call): ApiAnswer {
  const { request, target } = call;
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return readFlag(call.query, 'watch') === true ? watch(call) : list(call);
    case 'POST':
      if (target.kind.names.namespaced && target.namespace === '') throw methodNotAllowed();
      return shown(call, createObject(call.rest, target, writeRequest(call, 'CreateOptions')));
    case 'DELETE':
      return deleteCollection(call);
    default:
      throw methodNotAllowed();
  }
}

function callObject(call: Call): ApiAnswer {
  const { request, rest, target, query } = call;
  if (target.subresource === 'scale') return callScale(call);
  switch (request.method) {
    case 'GET':
    case 'HEAD': {
      const body = getObject(rest, target, query.get('resourceVersion') ?? '');
      return shown(call, { code: 200, body, warnings: [] });
    }
    case 'PUT':
      return shown(call, updateObject(rest, target, writeRequest(call, 'UpdateOptions')));
    case 'PATCH':
      return shown(call, patchObject(rest, target, writeRequest(call, 'PatchOptions')));
    case 'DELETE':
      if (target.subresource !== '') throw methodNotAllowed();
      return shown(call, deleteObject(rest, target, readDeleteOptions(request.body, query)));
    default:
      throw methodNotAllowed();
  }
}

function callScale(call: Call): ApiAnswer {
  const { request, rest, target } = call;
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return shown(call, getScale(rest, target));
    case 'PUT':
      return shown(call, updateScale(rest, target, writeRequest(call, 'UpdateOptions')));
    case 'PATCH':
      return shown(call, patchScale(rest, target, writeRequest(call, 'PatchOptions')));
    default:
      throw methodNotAllowed();
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

function shown({ shape }: Call, { code, body, warnings }: RestAnswer): ApiAnswer {
  const isStatus = (body as { readonly kind?: unknown }).kind === 'Status';
  if (shape.kind !== 'metadata' || isStatus) return jsonAnswer(code, body, warnings);
  return jsonAnswer(code, metadataOnly(body as never), warnings);
}

function list({ rest, target, query, shape }: Call): ApiAnswer {
  const { kind } = target;
  const options = readListOptions({ kind, query, isWatch: false });
  return jsonTextAnswer(200, listText(kind, listObjects(rest, target, options), shape));
}

function watch({ rest, clock, target, query, shape }: Call): ApiAnswer {
  const { kind, namespace } = target;
  const options = readListOptions({ kind, query, isWatch: true });
  const show = shape.kind === 'metadata' ? metadataOnly : undefined;
  const body = watchObjects({ store: rest.store, clock, kind, namespace, options, show });
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

function deleteCollection({ rest, target, request, query, shape }: Call): ApiAnswer {
  const { kind } = target;
  const options = readListOptions({ kind, query, isWatch: false });
  const deletion = readDeleteOptions(request.body, query);
  const page = listObjects(rest, target, options);
  for (const stored of page.items) {
    const { namespace, name } = stored;
    const one = { kind, namespace, name, subresource: '' as const };
    deleteStored(rest, one, { stored, options: deletion });
  }
  return jsonTextAnswer(200, listText(kind, page, shape));
}
