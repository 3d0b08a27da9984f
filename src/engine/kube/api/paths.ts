import type { Gvk } from '#util/gvk.ts';
import type { ResourceType } from '../roles.ts';

/** Target within a kind. */
export interface PathTarget {
  /** Ignored for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** `/apis/apps/v1`, or `/api/v1` for the core group. */
export function groupVersionPath({ group, version }: Pick<Gvk, 'group' | 'version'>): string {
  return group === ''
    ? `/api/${encodeURIComponent(version)}`
    : `/apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`;
}

/**
 * The path of a collection (without `name`; without `namespace`: all namespaces) or of an object. Every segment is
 * encoded: RBAC names contain colons, and a name must not leave its segment.
 */
export function pathOf(type: ResourceType, target: PathTarget = {}): string {
  const { namespace, name, subresource } = target;
  const segments = [groupVersionPath(type.gvk)];
  if (type.namespaced && namespace !== undefined)
    segments.push('namespaces', encodeURIComponent(namespace));
  segments.push(encodeURIComponent(type.plural));
  if (name !== undefined) segments.push(encodeURIComponent(name));
  if (subresource !== undefined) segments.push(encodeURIComponent(subresource));
  return segments.join('/');
}
