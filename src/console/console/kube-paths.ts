import { objectNamePattern } from '#util/object-name.ts';
import type { KubeRequest } from '#web';

const segment = '[A-Za-z0-9][A-Za-z0-9._:-]*';
const plainSegment = new RegExp(`^${segment}$`);
/** A collection or one object, without subresources: `proxy`, `exec`, `log` and `token` do more than read and write objects. */
const objects = new RegExp(
  `^/(?:api/v1|apis/${segment}/${segment})(?:/namespaces/${segment})?/(?<plural>${segment})(?:/(?<name>[^/]+))?$`,
);
const discovery = new Set(['/api', '/apis']);

/** Query parameters that are passed on. */
const permitted = new Set([
  ...['labelSelector', 'fieldSelector', 'limit', 'continue', 'resourceVersion'],
  ...['watch', 'allowWatchBookmarks', 'dryRun', 'fieldManager'],
]);

export interface AllowedPath {
  readonly isDiscovery: boolean;
  /** Undefined: a collection. */
  readonly name: string | undefined;
  readonly query: Readonly<Record<string, string>>;
}

/** A path that the console passes on, with the query that it passes on. Undefined: none. Pure. */
export function allowedPath({
  path,
  query = {},
}: Pick<KubeRequest, 'path' | 'query'>): AllowedPath | undefined {
  const kept = Object.fromEntries(
    Object.entries(query).filter(
      ([name, value]) => permitted.has(name) && typeof value === 'string',
    ),
  );
  if (discovery.has(path)) return { isDiscovery: true, name: undefined, query: {} };
  const groups = objects.exec(path)?.groups;
  // The old form of a watch: `/api/v1/watch/secrets`.
  if (groups === undefined || groups.plural === 'watch' || groups.plural === 'proxy')
    return undefined;
  const { name } = groups;
  return name === undefined || isEncodedName(name)
    ? { isDiscovery: false, name, query: kept }
    : undefined;
}

/** Whether a segment is a name of an object, with `encodeURIComponent` or without: RBAC objects have names such as `alice@example.com`. */
function isEncodedName(part: string): boolean {
  if (plainSegment.test(part)) return true;
  try {
    const name = decodeURIComponent(part);
    return objectNamePattern.test(name) && encodeURIComponent(name) === part;
  } catch {
    return false;
  }
}

/** Whether a request asks for a response without an end: a watch, also in its old form, or a log that is followed. Pure. */
export function isEndless({ path, query = {} }: Pick<KubeRequest, 'path' | 'query'>): boolean {
  const names = [...Object.keys(query), ...new URLSearchParams(path.split('?')[1] ?? '').keys()];
  return (
    names.some((name) => name === 'watch' || name === 'follow') ||
    /^\/(?:api|apis\/[^/]+)\/[^/]+\/watch(?:\/|$)/.test(path)
  );
}
