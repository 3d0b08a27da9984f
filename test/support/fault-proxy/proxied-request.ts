import type { IncomingMessage } from 'node:http';

/** What a request is to the API server. `other`: discovery, OpenAPI, health, and what no test has a word for. */
export type RequestVerb = 'list' | 'watch' | 'get' | 'apply' | 'delete' | 'create' | 'other';

/** A request on its way, as faults see it. */
export interface ProxiedRequest {
  readonly verb: RequestVerb;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Plural, with a subresource: `deployments`, `things/status`. Empty for `other`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** Does it ask for a page after the first? */
  readonly isLaterPage: boolean;
}

/** `/api/v1` or `/apis/<group>/<version>`, then perhaps a namespace, then resource, name, subresource. */
const resourcePath =
  /^\/(?:api|apis\/[^/]+)\/[^/]+(?:\/namespaces\/([^/]+)(?=\/[^/]))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;

/** Reads what a request is from its line and headers. */
export function describeRequest({ method = '', url = '', headers }: IncomingMessage) {
  const { pathname, searchParams } = new URL(url, 'https://server');
  const [, namespace = '', plural = '', name = '', subresource] = resourcePath.exec(pathname) ?? [];
  const described: ProxiedRequest = {
    verb: plural === '' ? 'other' : verbOf({ method, name, headers, searchParams }),
    method,
    path: url,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    namespace,
    name,
    isLaterPage: searchParams.has('continue'),
  };
  return described;
}

interface RequestParts {
  readonly method: string;
  readonly name: string;
  readonly headers: IncomingMessage['headers'];
  readonly searchParams: URLSearchParams;
}

function verbOf({ method, name, headers, searchParams }: RequestParts): RequestVerb {
  switch (method) {
    case 'GET':
      if (['1', 'true'].includes(searchParams.get('watch') ?? '')) return 'watch';
      return name === '' ? 'list' : 'get';
    case 'PATCH':
      return headers['content-type']?.includes('apply-patch') === true ? 'apply' : 'other';
    case 'DELETE':
      return 'delete';
    case 'POST':
      return 'create';
    default:
      return 'other';
  }
}
