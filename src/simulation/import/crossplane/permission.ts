import type { Json } from '../../../util/json.ts';

/** `crossNamespace` for a namespace in a template: a computed one is allowed by a glob. Undefined: it is the resource's. */
export function permissionOf(namespace: string): Json | undefined {
  if (namespace === '${ metadata.namespace }') return undefined;
  if (!namespace.includes('${')) return true;
  return { namespaces: [namespace.replaceAll(/\$\{[^}]*\}/g, '*')] };
}
