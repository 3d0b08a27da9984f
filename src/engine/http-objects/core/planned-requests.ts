import type { KubeObject } from '#util/kube-object.ts';
import { isAllowed } from '../spec/allowed-request.ts';
import type { AuthSpec, EndpointSpec } from '../spec/endpoint-spec.ts';
import { urlBelow } from '../spec/location.ts';
import type { ObjectSpec } from '../spec/object-spec.ts';
import { type PlannedRole, planOf } from './plan.ts';
import type { FarRequest } from './record.ts';
import { requestBody } from './request-body.ts';
import { isBlocked } from './view.ts';

/** A request as it would be sent, without values of Secrets. `{id}` stands for the id of the object. */
export interface PlannedRequest {
  readonly role: PlannedRole | 'token' | 'check';
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly notes: readonly string[];
}

export interface PlannedRequests {
  readonly requests: readonly PlannedRequest[];
  /** Why nothing would be sent. */
  readonly failure?: string;
}

/** In place of values of Secrets and ConfigMaps. */
const hidden = '(sensitive)';
const roles = ['observe', 'find', 'create', 'update', 'delete'] as const;
/** Stands for `{id}` while the URL is built. */
const idMark = '~id~';

/** The requests for credentials and for `check` of an endpoint. Pure. */
export function endpointRequests(endpoint: EndpointSpec): readonly PlannedRequest[] {
  const { checkPath, headers } = endpoint;
  const check = checkPath === undefined ? [] : [checkRequest(endpoint, checkPath)];
  return [...tokenRequests(endpoint, headers), ...check];
}

/** The requests of an object, in the order in which they may be sent. Pure. */
export function objectRequests(
  object: KubeObject,
  spec: ObjectSpec,
  endpoint: EndpointSpec,
): PlannedRequests {
  const metadata = { namespace: 'default', uid: 'uid', ...object.metadata };
  const plan = planOf(spec, metadata, []);
  if (isBlocked(plan)) return { requests: [], failure: plan.message };
  const requests = roles.flatMap((role) => {
    const request = plan.requests[role];
    return request === undefined ? [] : [objectRequest(role, request, { spec, endpoint })];
  });
  return { requests };
}

function objectRequest(
  role: PlannedRole,
  request: FarRequest,
  { spec, endpoint }: { readonly spec: ObjectSpec; readonly endpoint: EndpointSpec },
): PlannedRequest {
  const { method, path, query } = request;
  const inputs = Object.fromEntries(Object.keys(spec.inputs).map((name) => [name, hidden]));
  const body =
    role === 'create' || role === 'update'
      ? requestBody(role, { spec, inputs, observed: undefined })
      : undefined;
  const isMerged =
    role === 'update' && method === 'PUT' && body?.contentType === 'application/json';
  const allowed = isAllowed(endpoint.allow, { method, path: path.replaceAll('{id}', idMark) });
  return {
    ...{ role, method },
    url: urlOf(endpoint, path, query),
    headers: {
      Accept: 'application/json',
      ...endpoint.headers,
      ...request.headers,
      ...(role === 'create' && spec.idempotencyKey && { 'Idempotency-Key': '(uid)' }),
      ...(body !== undefined && { 'Content-Type': body.contentType }),
      ...credentials(endpoint.auth),
    },
    ...(body !== undefined && { body: body.text }),
    notes: [
      ...(isMerged
        ? ['Merged into what was observed; "If-Match" if the API returned an ETag']
        : []),
      ...(allowed ? [] : ['Not permitted by "allow" of the HttpEndpoint, so it is not sent']),
    ],
  };
}

function urlOf(endpoint: EndpointSpec, path: string, query: FarRequest['query']): string {
  const url = urlBelow(endpoint, path.replaceAll('{id}', idMark), query) ?? '';
  return url.replaceAll(idMark, '{id}');
}

function checkRequest(endpoint: EndpointSpec, path: string): PlannedRequest {
  return {
    ...{ role: 'check', method: 'GET', url: urlOf(endpoint, path, undefined), notes: [] },
    headers: { Accept: 'application/json', ...endpoint.headers, ...credentials(endpoint.auth) },
  };
}

function credentials(auth: AuthSpec | undefined): Readonly<Record<string, string>> {
  switch (auth?.kind) {
    case undefined:
      return {};
    case 'basic':
      return { Authorization: `Basic ${hidden}` };
    case 'header':
      return { [auth.name]: hidden };
    case 'login':
      return auth.header === undefined
        ? { Authorization: `Bearer ${hidden}` }
        : { [auth.header]: hidden };
    default:
      return { Authorization: `Bearer ${hidden}` };
  }
}

function tokenRequests(
  endpoint: EndpointSpec,
  headers: Readonly<Record<string, string>>,
): readonly PlannedRequest[] {
  const { auth } = endpoint;
  const request = { role: 'token', method: 'POST', notes: [] } as const;
  if (auth?.kind === 'oauth2')
    return [
      {
        ...{ ...request, url: auth.tokenUrl },
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: [
          'grant_type=client_credentials',
          `client_id=${hidden}`,
          `client_secret=${hidden}`,
          ...(auth.scopes.length > 0 ? [`scope=${auth.scopes.join(' ')}`] : []),
        ].join('&'),
      },
    ];
  if (auth?.kind !== 'login') return [];
  return [
    {
      ...{ ...request, url: urlOf(endpoint, auth.path, undefined) },
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...auth.body, [auth.jwtField]: hidden }),
    },
  ];
}
