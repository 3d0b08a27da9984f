import { type GroupKind, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { ResourceRef } from '../contract.ts';
import { type DefinitionSummary, definitionSummary } from '../model/object-summary.ts';
import type { ListNeed } from '../store/console-store.ts';
import type { View } from '../view.ts';

/** The list of all definitions. */
export const definitionsNeed: ListNeed = {
  kind: { group: 'homeostat.dev', kind: 'OperatorDefinition' },
};

/** The list of all member clusters. */
export const clustersNeed: ListNeed = { kind: { group: 'homeostat.dev', kind: 'Cluster' } };

/** Whether the cluster has members: the kind is served. */
export function hasClusters(store: View['store']): boolean {
  return store.kindOf(clustersNeed.kind) !== undefined;
}

export function definitionObjects(store: View['store']): readonly KubeObject[] {
  return store.list(definitionsNeed).objects;
}

export function definitionSummaries(store: View['store']): readonly DefinitionSummary[] {
  return definitionObjects(store).map(definitionSummary);
}

/** The list of the resources of a definition; undefined: its kind is not known yet. */
export function resourcesNeed({ kind, group }: DefinitionSummary): ListNeed | undefined {
  return kind === '' ? undefined : { kind: { group, kind } };
}

/** Lists of the resources of all definitions, each kind once. */
export function allResourceNeeds(store: View['store']): readonly ListNeed[] {
  const needs = new Map<string, ListNeed>();
  for (const summary of definitionSummaries(store)) {
    const need = resourcesNeed(summary);
    if (need !== undefined) needs.set(`${summary.group}/${summary.kind}`, need);
  }
  return [...needs.values()];
}

/** The definition that serves a kind. Undefined: none is known. */
export function definitionOf(
  store: View['store'],
  { group, kind }: GroupKind,
): KubeObject | undefined {
  return definitionObjects(store).find((object) => {
    const summary = definitionSummary(object);
    return summary.group === group && summary.kind === kind;
  });
}

export function kindOfRef({ apiVersion, kind }: ResourceRef): GroupKind {
  const { group } = gvkOf(apiVersion, kind);
  return { group, kind };
}

/** Events about an object. They are in its namespace, those of cluster-scoped objects in `default`. */
export function eventsNeed(object: KubeObject): ListNeed {
  const { namespace = 'default', uid = '' } = object.metadata;
  return {
    kind: { group: '', kind: 'Event' },
    namespace,
    fieldSelector: `involvedObject.uid=${uid}`,
  };
}
