import { bundledSchemas } from '#compile';
import type { Gvk } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';

/** `crossNamespace` for a namespace in a template: a computed one is allowed by a glob. Undefined: it is the resource's. */
export function permissionOf(namespace: string): Json | undefined {
  if (namespace === '${ metadata.namespace }') return undefined;
  if (!namespace.includes('${')) return true;
  return { namespaces: [namespace.replaceAll(/\$\{[^}]*\}/g, '*')] };
}

export interface PermissionContext {
  /** Of the resource. */
  readonly isNamespaced: boolean;
  /** Are kinds that Kubernetes does not have cluster-scoped? */
  readonly isUnknownCluster?: boolean;
  /** `crossNamespace` for a namespace as the source writes it. @default permissionOf: it is written as in a template */
  readonly permissionFor?: (namespace: string) => Json | undefined;
}

/** `crossNamespace` of a child with this `metadata` in its template. */
export function childPermission(
  gvk: Gvk,
  metadata: JsonObject,
  { isNamespaced, isUnknownCluster = false, permissionFor = permissionOf }: PermissionContext,
): Json | undefined {
  const known = bundledSchemas().isNamespaced(gvk);
  const isNamespace = gvk.group === '' && gvk.kind === 'Namespace';
  const place = isNamespace ? metadata.name : metadata.namespace;
  if (typeof place !== 'string')
    return isNamespaced && (known === false || (known === undefined && isUnknownCluster))
      ? true
      : undefined;
  // A cluster-scoped resource may create a Namespace with a literal name.
  if (isNamespace && !isNamespaced && !place.includes('${')) return undefined;
  return permissionFor(place);
}

/** The difference of a permission by glob. */
export function globNotes(permission: Json | undefined): readonly string[] {
  if (!isJsonObject(permission)) return [];
  return [`"crossNamespace" allows namespaces like "${String(permission.namespaces)}"`];
}
