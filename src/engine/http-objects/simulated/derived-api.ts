import type { LeafParser } from '#compile/language/index.ts';
import type { HttpTransport, TransportAnswer, TransportRequest } from '#kube/roles.ts';
import { parseJson } from '#util/exact-json.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { firstDifference, merged } from '../core/compare.ts';
import { type PlannedRole, planOf } from '../core/plan.ts';
import type { FarRequest } from '../core/record.ts';
import { isBlocked } from '../core/view.ts';
import { httpEndpointGvk } from '../kinds/http-endpoint.ts';
import { httpObjectGvk } from '../kinds/http-object.ts';
import type { Code } from '../spec/code-field.ts';
import { decodeEndpoint, type EndpointSpec } from '../spec/endpoint-spec.ts';
import { decodeObject, type ObjectSpec } from '../spec/object-spec.ts';

interface DerivedApiOptions {
  /** The current objects of both kinds. */
  readonly objects: () => readonly KubeObject[];
  readonly parser: LeafParser;
}

/** An object in the API. */
interface Stored {
  /** URL of the list that has it; empty: none. */
  readonly list: string;
  readonly content: Json;
}

/** A request that an HttpObject makes. */
interface Meant {
  readonly spec: ObjectSpec;
  readonly role: PlannedRole;
  /** By role, with `{id}` for the id. */
  readonly urls: Readonly<Partial<Record<PlannedRole, string>>>;
  /** Undefined: the path names it, or it is not known yet. */
  readonly id: string | undefined;
}

const roles = ['create', 'update', 'delete', 'observe', 'find'] as const;

/**
 * An API that is derived from the HttpObjects that use it: it stores what they send, and answers as their code expects. It knows code that
 * is a path of names (`$(body.result.id)`). It has no network.
 */
export class DerivedApi implements HttpTransport {
  readonly #options: DerivedApiOptions;
  /** By URL. */
  readonly #stored = new Map<string, Stored>();
  #created = 0;

  constructor(options: DerivedApiOptions) {
    this.#options = options;
  }

  async send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> {
    await Promise.resolve();
    signal.throwIfAborted();
    request.beforeSend?.();
    const { endpoints, objects } = this.#current();
    const token = endpoints.map(({ spec }) => tokenAnswer(spec, request)).find((each) => each);
    if (token !== undefined) return answer(200, token);
    const meant = objects.flatMap((object) => {
      const endpoint = endpoints.find(
        ({ namespace, name }) =>
          name === object.spec.endpoint && namespace === object.object.metadata.namespace,
      );
      return (endpoint && meantBy(request, object, endpoint.spec)) ?? [];
    });
    // Objects with one path for writes differ in what they send.
    const sent = bodyOf(request);
    const own = meant.find(({ spec }) => firstDifference(spec.desired, sent) === undefined);
    const first = own ?? meant[0];
    if (first !== undefined) return this.#answer(first, request);
    const isCheck = endpoints.some(
      ({ spec }) => request.url === `${spec.origin}${spec.basePath}${spec.checkPath}`,
    );
    return isCheck ? answer(200, {}) : answer(404, { message: 'Not found' });
  }

  #answer({ spec, role, urls, id }: Meant, request: TransportRequest): TransportAnswer {
    const own = (urls.observe ?? '').replaceAll('{id}', encodeURIComponent(id ?? ''));
    const stored = this.#stored.get(own);
    const shown = (content: Json) => withValueAt(resultPath(spec), content);
    switch (role) {
      case 'observe':
        return stored === undefined
          ? answer(404, { message: 'Not found' })
          : answer(200, shown(stored.content));
      case 'find':
        return answer(200, withValueAt(listPath(spec), this.#listed(request.url)));
      case 'create':
        return this.#create(spec, urls, request);
      case 'update':
        if (stored === undefined) return answer(404, { message: 'Not found' });
        this.#stored.set(own, { ...stored, content: merged(stored.content, bodyOf(request)) });
        return answer(200, shown(merged(stored.content, bodyOf(request))));
      case 'delete':
        this.#stored.delete(own);
        return answer(204, undefined);
    }
  }

  #create(spec: ObjectSpec, urls: Meant['urls'], request: TransportRequest): TransportAnswer {
    this.#created += 1;
    const id = `id-${this.#created}`;
    const inResult = spec.id && belowResult(spec);
    const content =
      inResult === undefined ? bodyOf(request) : withValueAt(inResult, id, bodyOf(request));
    const url = (urls.observe ?? '').replaceAll('{id}', id);
    this.#stored.set(url, { list: urls.find ?? '', content });
    let body = withValueAt(resultPath(spec), content);
    for (const [code, value] of [
      [spec.id, id] as const,
      ...Object.values(spec.secret?.data ?? {}).map((each) => [each, 'simulated'] as const),
    ]) {
      const [first, ...path] = code?.plainPath ?? [];
      if (first === 'body') body = withValueAt(path, value, body);
    }
    return answer(201, body);
  }

  #listed(url: string): Json {
    return [...this.#stored.values()]
      .filter(({ list }) => list === url)
      .map((each) => each.content);
  }

  #current() {
    const { objects, parser } = this.#options;
    const all = objects();
    const endpoints = all.filter(({ kind }) => kind === httpEndpointGvk.kind);
    return {
      endpoints: endpoints.flatMap((object) => {
        const { spec } = decodeEndpoint(object, parser);
        const { namespace, name } = object.metadata;
        return spec === undefined ? [] : [{ namespace, name, spec }];
      }),
      objects: all
        .filter(({ kind }) => kind === httpObjectGvk.kind)
        .flatMap((object) => {
          const { spec } = decodeObject(object, parser);
          return spec === undefined ? [] : [{ object, spec }];
        }),
    };
  }
}

/** What a request means to an object. Undefined: it is not one of its requests. */
function meantBy(
  { method, url }: TransportRequest,
  { object, spec }: { readonly object: KubeObject; readonly spec: ObjectSpec },
  endpoint: EndpointSpec,
): Meant | undefined {
  const plan = planOf(spec, object.metadata, []);
  if (isBlocked(plan)) return undefined;
  const entries = roles.flatMap((role) => {
    const request = plan.requests[role];
    return request === undefined ? [] : [[role, urlOf(endpoint, request)] as const];
  });
  const urls = Object.fromEntries(entries);
  for (const [role, pattern] of entries) {
    if (plan.requests[role]?.method !== method) continue;
    const id = idIn(pattern, url);
    if (id !== undefined) return { spec, role, urls, id: id === '' ? undefined : id };
  }
  return undefined;
}

/** With `{id}` for the id. */
function urlOf({ origin, basePath }: EndpointSpec, { path, query = {} }: FarRequest): string {
  const search = new URLSearchParams(query).toString();
  return `${origin}${basePath}${path}${search === '' ? '' : `?${search}`}`;
}

/** The id in a URL; empty if there is none. Undefined: it is another URL. */
function idIn(pattern: string, url: string): string | undefined {
  const [before = '', ...after] = pattern.split('{id}');
  if (after.length === 0) return url === pattern ? '' : undefined;
  if (!url.startsWith(before)) return undefined;
  const id = url.slice(before.length).split(/[/?]/)[0] ?? '';
  return id !== '' && pattern.replaceAll('{id}', id) === url ? decodeURIComponent(id) : undefined;
}

function resultPath({ observe }: ObjectSpec): readonly string[] {
  return pathInBody(observe.result);
}

function listPath({ find }: ObjectSpec): readonly string[] {
  return find === undefined ? [] : pathInBody(find.results);
}

function pathInBody({ plainPath }: Code): readonly string[] {
  const [first, ...path] = plainPath ?? [];
  return first === 'body' ? path : [];
}

/** Where the object itself has its id. Undefined: it has none. */
function belowResult(spec: ObjectSpec): readonly string[] | undefined {
  const [first, ...path] = spec.id?.plainPath ?? [];
  if (first === 'result') return path;
  const result = resultPath(spec);
  const isBelow = first === 'body' && result.every((step, index) => path[index] === step);
  return isBelow && path.length > result.length ? path.slice(result.length) : undefined;
}

function tokenAnswer(
  { auth, origin, basePath }: EndpointSpec,
  { method, url }: TransportRequest,
): Json | undefined {
  if (method !== 'POST') return undefined;
  if (auth?.kind === 'oauth2' && url === auth.tokenUrl) return { access_token: 'simulated-token' };
  if (auth?.kind !== 'login' || url !== `${origin}${basePath}${auth.path}`) return undefined;
  return withValueAt(pathInBody(auth.token), 'simulated-token');
}

function withValueAt([step, ...rest]: readonly string[], value: Json, around: Json = {}): Json {
  if (step === undefined) return value;
  const map = isJsonObject(around) ? around : {};
  return { ...map, [step]: withValueAt(rest, value, map[step] ?? {}) };
}

function bodyOf({ body, headers }: TransportRequest): JsonObject {
  if (body === undefined || body === '') return {};
  if (headers['content-type'] === 'application/x-www-form-urlencoded')
    return Object.fromEntries(new URLSearchParams(body));
  return parseJson(body) as JsonObject;
}

function answer(status: number, body: Json | undefined): TransportAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? '' : JSON.stringify(body),
  };
}
