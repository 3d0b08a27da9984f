import { ownerUidLabel } from '../../reconcile/index.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { isDefinitionFile } from './definition-file.ts';

/** So many keys are named. */
const namedAtMost = 10;

/** Whoever may create resources must not be able to write definitions by way of what is made for them. */
export function isMadeForResource({ metadata: { labels, annotations } }: KubeObject): boolean {
  return labels?.[ownerUidLabel] !== undefined || annotations?.[ownerUidLabel] !== undefined;
}

/** Why a ConfigMap with the label of definitions, or a part of it, is not read as such, for people; undefined: all of it is. Pure. */
export function whyPassedOver(configMap: KubeObject): string | undefined {
  if (isMadeForResource(configMap))
    return `It carries ${ownerUidLabel}, as what is made for a resource does, and such a ConfigMap is never a source of definitions`;
  const ignored = [configMap.data, configMap.binaryData]
    .flatMap((fields) => (isJsonObject(fields) ? Object.keys(fields) : []))
    .filter((key) => !isDefinitionFile(key))
    .toSorted();
  if (ignored.length === 0) return undefined;
  const more = ignored.length - namedAtMost;
  const named = ignored.slice(0, namedAtMost).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return `Keys that are not read: ${named}. A definition stands in one that ends in .yaml, .yml or .json and does not begin with a dot`;
}
