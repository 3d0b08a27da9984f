import type { LocatedDefinition, OperatorDefinition, ServedKind } from '../definition/index.ts';
import type { GroupKind, Gvk } from '../util/gvk.ts';
import type { RuntimeCluster } from './runner-options.ts';

/**
 * Whether two revisions of one definition have the same kind. If not, the later one is treated as another definition, without a roll-out.
 */
export function isSameKind(a: LocatedDefinition, b: LocatedDefinition): boolean {
  return identityOf(a) === identityOf(b);
}

/** `group/Kind` */
export function groupKindKey({ kind }: { readonly kind: ServedKind }): string {
  return `${kind.gvk.group}/${kind.gvk.kind}`;
}

function identityOf({ definition }: LocatedDefinition): string {
  const { kind } = definition;
  // The API server rejects another kind or scope for an existing CRD, so the CRD name is enough.
  return kind.source === 'crd'
    ? `crd ${kind.crd.metadata.name}`
    : `for ${groupKindKey(definition)}`;
}

/** The kinds of a definition's children. Pure. */
export function childKindsOf({
  children,
  onDelete,
}: Pick<OperatorDefinition, 'children' | 'onDelete'>): readonly Gvk[] {
  return [...children, ...(onDelete?.children ?? [])].map(({ gvk }) => gvk);
}

/**
 * Returns those kinds that the API server serves.
 * @throws KubeError
 */
export async function servedKinds(
  kinds: readonly GroupKind[],
  cluster: RuntimeCluster,
  signal: AbortSignal,
): Promise<readonly Gvk[]> {
  const found: Gvk[] = [];
  for (const kind of kinds) {
    const type = await cluster.findKind(kind, signal);
    if (type !== undefined) found.push(type.gvk);
  }
  return found;
}

/** The kind whose status the definition writes, as `group/Kind`. Undefined: none. Pure. */
export function statusKindOf({ kind, status, reporting }: OperatorDefinition): string | undefined {
  const writesStatus =
    kind.source === 'crd' ||
    Object.keys(status).length > 0 ||
    (reporting?.conditions.length ?? 0) > 0;
  return writesStatus ? groupKindKey({ kind }) : undefined;
}
