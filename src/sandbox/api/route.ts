/** What a path addresses. */
export type Route =
  | { readonly kind: 'resource'; readonly resource: ResourceRoute }
  | { readonly kind: 'group-versions'; readonly root: 'api' | 'apis' }
  | { readonly kind: 'group'; readonly group: string }
  | { readonly kind: 'resources'; readonly group: string; readonly version: string }
  | { readonly kind: 'openapi'; readonly document: string }
  | { readonly kind: 'openapi-v2' }
  | { readonly kind: 'health' }
  | { readonly kind: 'version' }
  /** Paths below `/api` are answered with a Status even when nothing is served there. */
  | { readonly kind: 'unknown'; readonly root: string }
  | { readonly kind: 'malformed' };

export interface ResourceRoute {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Empty = no namespace in the path. */
  readonly namespace: string;
  /** Empty = the collection. */
  readonly name: string;
  /** Empty = the object itself. */
  readonly subresource: string;
}

/** Parses a path without its query. Decodes it before splitting, so that a name cannot contain an encoded slash. */
export function parseRoute(path: string): Route {
  const steps = decodeSteps(path);
  if (steps === undefined) return { kind: 'malformed' };
  const [root = '', ...rest] = steps;
  // No path with an empty segment is valid.
  if (rest.includes('')) return { kind: 'unknown', root };
  switch (root) {
    case 'api':
      return rest.length === 0 ? { kind: 'group-versions', root } : inGroup('', rest);
    case 'apis':
      return rest.length === 0 ? { kind: 'group-versions', root } : inNamedGroup(rest);
    case 'openapi':
      if (rest[0] === 'v2' && rest.length === 1) return { kind: 'openapi-v2' };
      if (rest[0] !== 'v3') return { kind: 'unknown', root };
      return { kind: 'openapi', document: rest.slice(1).join('/') };
    case 'healthz':
    case 'livez':
    case 'readyz':
      return { kind: 'health' };
    case 'version':
      return rest.length === 0 ? { kind: 'version' } : { kind: 'unknown', root };
    default:
      return { kind: 'unknown', root };
  }
}

function decodeSteps(path: string): readonly string[] | undefined {
  try {
    const steps = decodeURIComponent(path).split('/').slice(1);
    return steps.at(-1) === '' ? steps.slice(0, -1) : steps;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function inNamedGroup([group = '', ...rest]: readonly string[]): Route {
  return rest.length === 0 ? { kind: 'group', group } : inGroup(group, rest);
}

function inGroup(group: string, [version = '', ...rest]: readonly string[]): Route {
  if (rest.length === 0) return { kind: 'resources', group, version };
  const [first = '', second = '', third, ...others] = rest;
  const isNamespaced = first === 'namespaces' && third !== undefined && !isNamespacePart(third);
  const [plural = '', name = '', subresource = '', ...more] = isNamespaced
    ? [third, ...others]
    : rest;
  if (more.length > 0) return { kind: 'unknown', root: group === '' ? 'api' : 'apis' };
  const namespace = isNamespaced ? second : '';
  return {
    kind: 'resource',
    resource: { group, version, plural, namespace, name, subresource },
  };
}

/** Subresources of the namespace itself. */
function isNamespacePart(step: string): boolean {
  return step === 'status' || step === 'finalize';
}
