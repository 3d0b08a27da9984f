import type { ApiRequest } from '#sandbox';

export interface AuditedRequest {
  readonly user: string;
  readonly request: ApiRequest;
  readonly status: number;
}

const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch' };

/** A line of an audit log as a real server writes it: what `AuditLog` reads of it. */
export function auditLine({ user, request, status }: AuditedRequest): string {
  const { pathname, searchParams } = new URL(request.path, 'http://sandbox');
  const objectRef = referenceOf(pathname);
  const isWatch = /^(?:1|true)$/.test(searchParams.get('watch') ?? '');
  const verb = verbOf(request.method, { isWatch, hasName: objectRef?.name !== undefined });
  return `${JSON.stringify({
    stage: verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete',
    requestReceivedTimestamp: new Date().toISOString(),
    verb,
    requestURI: request.path,
    user: { username: user },
    ...(objectRef === undefined ? {} : { objectRef }),
    responseStatus: { code: status },
  })}\n`;
}

function verbOf(
  method: string,
  { isWatch, hasName }: { readonly isWatch: boolean; readonly hasName: boolean },
): string {
  if (method === 'DELETE') return hasName ? 'delete' : 'deletecollection';
  if (method !== 'GET') return verbs[method] ?? method.toLowerCase();
  if (isWatch) return 'watch';
  return hasName ? 'get' : 'list';
}

/** Undefined for discovery, OpenAPI and health. */
function referenceOf(path: string) {
  const [root, ...rest] = path.split('/').slice(1).map(decodeURIComponent);
  if (root !== 'api' && root !== 'apis') return undefined;
  const steps = rest.slice(root === 'api' ? 1 : 2);
  const isInNamespace =
    steps[0] === 'namespaces' && steps[2] !== undefined && steps[2] !== 'status';
  const [resource, name, subresource] = isInNamespace ? steps.slice(2) : steps;
  if (resource === undefined) return undefined;
  return {
    resource,
    ...(isInNamespace ? { namespace: steps[1] } : {}),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}
