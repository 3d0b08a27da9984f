import { type Gvk, groupKindKey, gvkKey } from '#util/gvk.ts';
import type { LocatedDefinition } from './finding.ts';
import { isPlaced, type Placeable, runsInMembers, worksInMembers } from './member-clusters.ts';
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
  readonly children: readonly (Placeable & Kinds)[];
  readonly onDelete?: { readonly children: readonly Kinds[] };
}

interface Kinds {
  readonly gvk: Gvk;
  readonly kinds?: readonly Gvk[];
}

/** The kinds that objects of a child may have. Pure. */
export function kindsOf({ gvk, kinds = [gvk] }: Kinds): readonly Gvk[] {
  return kinds;
}

/** The kinds of a definition's children. Pure. */
export function childKindsOf({ children, onDelete }: Children): readonly Gvk[] {
  return [...children, ...(onDelete?.children ?? [])].flatMap(kindsOf);
}

/**
 * Whether the definition needs the kind `Cluster`: it runs in members, or creates or reads `Cluster` objects, or has objects in
 * members. Pure.
 */
export function usesClusters(definition: OperatorDefinition): boolean {
  const { kind, reads, install = [] } = definition;
  const others = [...reads, ...install].map(({ gvk }) => gvk);
  const kinds = [kind.gvk, ...childKindsOf(definition), ...others];
  const isCluster = ({ group, kind }: Gvk) => group === clusterGroup && kind === 'Cluster';
  return worksInMembers(definition) || kinds.some(isCluster);
}

/** The kinds that the definition has, creates, reads or patches in the cluster of the runtime. Pure. */
export function hubKindsOf(definition: OperatorDefinition): readonly Gvk[] {
  const { kind, reads, reporting, install = [] } = definition;
  const installed = install.map(({ gvk }) => gvk);
  if (runsInMembers(definition)) return installed;
  const read = reads.filter((each) => !isPlaced(each)).map(({ gvk }) => gvk);
  const patched = (reporting?.patches ?? []).flatMap(({ target }) => target?.gvk ?? []);
  return [kind.gvk, ...localKindsOf(definition), ...read, ...patched, ...installed];
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

/** What a definition claims to be the only one of: the kind whose status it writes, and where. Undefined: nothing. Pure. */
export function statusClaimOf(definition: OperatorDefinition): string | undefined {
  const kind = statusKindOf(definition);
  return kind === undefined || !runsInMembers(definition) ? kind : `${kind} in members`;
}

/** Kinds that a definition creates, reads or patches. `isHere`: only those in the cluster of the resources. Pure. */
export function usedKindsOf(
  definition: OperatorDefinition,
  { isHere = false } = {},
): readonly Gvk[] {
  const { kind, children, onDelete, reads, reporting } = definition;
  const targets = (reporting?.patches ?? []).flatMap(({ target }) => target?.gvk ?? []);
  const parts: readonly (Placeable & Kinds)[] = [
    ...[...children, ...(onDelete?.children ?? []), ...reads],
  ];
  return [
    ...parts.flatMap((part) => (isHere && isPlaced(part) ? [] : kindsOf(part))),
    // Its own kind has its schema in the definition, and may not be served yet.
    ...targets.filter((gvk) => gvkKey(gvk) !== gvkKey(kind.gvk)),
  ];
}
