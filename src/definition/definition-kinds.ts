import { type Gvk, groupKindKey } from '../util/gvk.ts';
import type { LocatedDefinition } from './finding.ts';
import { isPlaced, type Placeable, worksInMembers } from './member-clusters.ts';
import type { CrdKind, OperatorDefinition } from './operator-definition.ts';

const clusterGroup = 'homeostat.dev';

/** A definition that declares its own CRD. */
export interface CrdDefinition extends OperatorDefinition {
  readonly kind: CrdKind;
}

/** Whether the definition declares a CRD, instead of using an existing kind (`for`). */
export function definesCrd(definition: OperatorDefinition): definition is CrdDefinition {
  return definition.kind.source === 'crd';
}

/**
 * Whether two revisions of one definition have the same kind. If not, the later one is treated as another definition, without a roll-out.
 */
export function isSameKind(a: LocatedDefinition, b: LocatedDefinition): boolean {
  return identityOf(a.definition) === identityOf(b.definition);
}

function identityOf({ kind }: OperatorDefinition): string {
  // The API server rejects another kind or scope for an existing CRD, so the CRD name is enough.
  return kind.source === 'crd' ? `crd ${kind.crd.metadata.name}` : `for ${groupKindKey(kind.gvk)}`;
}

/** The children of a definition, or of its plan. */
interface Children {
  readonly children: readonly (Placeable & { readonly gvk: Gvk })[];
  readonly onDelete?: { readonly children: readonly { readonly gvk: Gvk }[] };
}

/** The kinds of a definition's children. Pure. */
export function childKindsOf({ children, onDelete }: Children): readonly Gvk[] {
  return [...children, ...(onDelete?.children ?? [])].map(({ gvk }) => gvk);
}

/**
 * Whether the definition needs the kind `Cluster`: it runs in members, or creates or reads `Cluster` objects, or has objects in
 * members. Pure.
 */
export function usesClusters(definition: OperatorDefinition): boolean {
  const { kind, reads } = definition;
  const kinds = [kind.gvk, ...childKindsOf(definition), ...reads.map(({ gvk }) => gvk)];
  const isCluster = ({ group, kind }: Gvk) => group === clusterGroup && kind === 'Cluster';
  return worksInMembers(definition) || kinds.some(isCluster);
}

/** The kinds of the children in the cluster of the resources, without those in member clusters. Pure. */
export function localKindsOf({ children, ...others }: Children): readonly Gvk[] {
  return childKindsOf({ ...others, children: children.filter((child) => !isPlaced(child)) });
}

/** The kind whose status the definition writes, as a {@link groupKindKey}. Undefined: none. Pure. */
export function statusKindOf(definition: OperatorDefinition): string | undefined {
  const { kind, status, reporting } = definition;
  const writesStatus =
    definesCrd(definition) ||
    Object.keys(status).length > 0 ||
    (reporting?.conditions.length ?? 0) > 0;
  return writesStatus ? groupKindKey(kind.gvk) : undefined;
}
