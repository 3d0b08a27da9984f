import type { CrdDefinition, CrdKind } from '#definition';
import type { Informer } from '#kube/roles.ts';
import { adoptedAnnotation, definitionLabel } from '#reconcile';
import type { Clock } from '#util/clock.ts';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { hubAnnotation } from '#util/stored-names.ts';
import type { Hub, RuntimeCluster } from '../runner-options.ts';

/** A definition with a CRD, and its cluster. */
export interface CrdContext {
  readonly definition: CrdDefinition;
  readonly cluster: RuntimeCluster;
  /** Name of this runtime, as a label value. @default undefined: unnamed */
  readonly runtime?: string | undefined;
  /** Set if the cluster is a member. @default undefined: it is the hub */
  readonly hub?: Pick<Hub, 'uid'> | undefined;
  readonly clock: Clock;
}

/** Follows the installed CRD of a definition while something else watches it. */
export interface CrdListener {
  /** Called with it, and with each change. Undefined: there is none of this definition. @default nothing */
  readonly onCrd?: ((live: KubeObject | undefined) => void) | undefined;
}

/** Flow of requests for the CRD; high priority because users wait for it. */
export function crdFlowOf({ name }: CrdDefinition) {
  return { name, priority: 'object' } as const;
}

/** Lists and watches one CRD. */
export function acquireCrd(cluster: RuntimeCluster, name: string): Informer {
  return cluster.acquire({ gvk: crdGvk, fieldSelector: `metadata.name=${name}` });
}

/** Whether the object is being deleted. */
export function isTerminating(live: KubeObject): boolean {
  return live.metadata.deletionTimestamp !== undefined;
}

/**
 * Why the definition may not change the CRD, as a message; undefined: it may. Definition names are unique in a cluster, so the label with
 * the definition's name is enough to identify the runtime.
 */
export function ownershipConflict(
  live: KubeObject,
  definition: CrdDefinition,
  hub?: Pick<Hub, 'uid'>,
): string | undefined {
  const { name, labels, annotations } = live.metadata;
  const liveHub = annotations?.[hubAnnotation];
  if (liveHub !== undefined && liveHub !== hub?.uid)
    return `The CustomResourceDefinition "${name}" belongs to the hub "${liveHub}", which serves this cluster as a member`;
  const isOfOrdinaryRuntime = hub !== undefined && liveHub === undefined;
  if (isOfOrdinaryRuntime && labels?.[definitionLabel] !== undefined)
    return `The CustomResourceDefinition "${name}" belongs to a runtime in this cluster`;
  const owner = labels?.[definitionLabel];
  if (owner === definition.name) return undefined;
  if (owner !== undefined) {
    return `The CustomResourceDefinition "${name}" belongs to the definition "${owner}"; if you renamed the definition, restore its name or see "Renaming a definition" in docs/operations.md`;
  }
  if (definition.kind.crdPolicy.adopt) return undefined;
  return `The CustomResourceDefinition "${name}" exists and is not managed by Homeostat; set "crdPolicy: { adopt: true }" to adopt it`;
}

/** The live CRD. Undefined: there is none, or it is another's: its versions say nothing about the definition. Pure. */
export function ownCrd(
  live: KubeObject | undefined,
  { definition, hub }: Pick<CrdContext, 'definition' | 'hub'>,
): KubeObject | undefined {
  if (live === undefined || ownershipConflict(live, definition, hub) !== undefined)
    return undefined;
  return live;
}

/** Whether the CRD existed before and was adopted (`crdPolicy.adopt`). An adopted CRD is never deleted. */
export function isAdopted({ metadata }: KubeObject): boolean {
  const isMarked = metadata.annotations?.[adoptedAnnotation] !== undefined;
  return isMarked || metadata.labels?.[definitionLabel] === undefined;
}

/** The kind of all CRDs. */
export const crdGvk: Gvk = gvkOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition');

/** The kind that a live CRD declares, for a definition that does not declare it any more. Undefined: unreadable. */
export function storedKind(crd: KubeObject): CrdKind | undefined {
  const { spec } = crd;
  if (!isJsonObject(spec) || !isJsonObject(spec.names) || !Array.isArray(spec.versions)) {
    return undefined;
  }
  const stored = spec.versions.filter(isJsonObject).find(({ storage }) => storage === true);
  if (stored === undefined) return undefined;
  const { group, scope, names } = spec;
  return {
    source: 'crd',
    gvk: { group: String(group), version: String(stored.name), kind: String(names.kind) },
    plural: String(names.plural),
    scope: scope === 'Cluster' ? 'Cluster' : 'Namespaced',
    crd,
    schema: {},
    crdPolicy: { adopt: false, deletion: 'Retain', allowBreakingChanges: false },
  };
}
