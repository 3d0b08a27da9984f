import { ownerUidLabel } from '#reconcile';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** Whether a file or key of that name can contain definitions. Names that begin with a dot cannot: mounted volumes keep symlinks there. */
export function isDefinitionFile(name: string): boolean {
  return !name.startsWith('.') && /\.(?:ya?ml|json)$/.test(name);
}

/** Maximum number of keys in a message. */
const maxNamed = 10;

/**
 * Whether the ConfigMap is a child of a resource. It is not a source: users who can create resources must not be able to write definitions
 * through their children.
 */
export function isChildOfResource({ metadata: { labels, annotations } }: KubeObject): boolean {
  return labels?.[ownerUidLabel] !== undefined || annotations?.[ownerUidLabel] !== undefined;
}

/** Why a labelled ConfigMap, or some of its keys, is ignored, as a message; undefined: nothing is ignored. Pure. */
export function ignoredReason(configMap: KubeObject): string | undefined {
  if (isChildOfResource(configMap))
    return `It has the label or annotation ${ownerUidLabel} of a child, and children are never a source of definitions`;
  const ignored = [configMap.data, configMap.binaryData]
    .flatMap((fields) => (isJsonObject(fields) ? Object.keys(fields) : []))
    .filter((key) => !isDefinitionFile(key))
    .toSorted();
  if (ignored.length === 0) return undefined;
  const more = ignored.length - maxNamed;
  const named = ignored.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return `Ignored keys: ${named}. Keys of definitions end in .yaml, .yml or .json and do not begin with a dot`;
}
