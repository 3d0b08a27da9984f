import { adoptedAnnotation, definitionLabel } from '../../reconcile/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { CrdDefinition } from './crd-definition.ts';

/** Is it being deleted? Its resources go with it. */
export function isGoing(live: KubeObject): boolean {
  return live.metadata.deletionTimestamp !== undefined;
}

/** Why the definition may not touch the CRD, for people; undefined: it may. */
export function whyNotOurs(live: KubeObject, definition: CrdDefinition): string | undefined {
  const owner = live.metadata.labels?.[definitionLabel];
  if (owner === definition.name) return undefined;
  const name = live.metadata.name;
  if (owner !== undefined) {
    return `The CustomResourceDefinition "${name}" belongs to the definition "${owner}"; where that has been renamed, give it its name back, or see "Renaming a definition" in docs/operations.md`;
  }
  if (definition.kind.crdPolicy.adopt) return undefined;
  return `The CustomResourceDefinition "${name}" exists and is not ours; "crdPolicy: { adopt: true }" takes it over`;
}

/** Was it there before us, and taken over (`crdPolicy.adopt`)? Such a one is never deleted. */
export function isAdopted({ metadata }: KubeObject): boolean {
  const isMarked = metadata.annotations?.[adoptedAnnotation] !== undefined;
  return isMarked || metadata.labels?.[definitionLabel] === undefined;
}
