import { childKindsAnnotation, kindText, parseKinds } from '../../reconcile/index.ts';
import type { GroupKind } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { CrdDefinition } from './crd-definition.ts';

/** Kinds that the CRD has on record beyond the definition: it has had children of them. */
export function formerKindsOf(
  definition: CrdDefinition,
  live: KubeObject | undefined,
): readonly GroupKind[] {
  const current = new Set(childKindsOf(definition).map(kindText));
  const recorded = parseKinds(live?.metadata.annotations?.[childKindsAnnotation]);
  return recorded.filter((kind) => !current.has(kindText(kind)));
}

/** The kinds of which a definition makes children. */
export function childKindsOf({
  children,
  onDelete,
}: Pick<CrdDefinition, 'children' | 'onDelete'>): readonly GroupKind[] {
  return [...children, ...(onDelete?.children ?? [])].map(({ gvk }) => gvk);
}
