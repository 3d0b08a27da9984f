import type { ChildPlan } from '#compile';
import type { RefAt } from '#kube/roles.ts';

/** Where the objects of a child may be. */
export type WhereOfChild = Pick<ChildPlan, 'gvk' | 'kinds' | 'placement'>;

/** Are the objects of a child or read in other clusters than the resource? */
export function isElsewhere({ placement }: Pick<ChildPlan, 'placement'>): boolean {
  return placement !== undefined;
}

interface PlacedElement {
  readonly plan: Pick<ChildPlan, 'isList' | 'isPlacedByItem'>;
  readonly name: string;
  readonly cluster?: string | undefined;
}

/** Is the element in another cluster than this object, and not the same one that has moved there? A moved one is created first. */
export function isElementElsewhere({ plan, cluster, name }: PlacedElement, ref: RefAt): boolean {
  if (!plan.isList || cluster === undefined || ref.gvk.cluster === undefined) return false;
  const isSame = plan.isPlacedByItem !== true && (name === '' || name === ref.name);
  return cluster !== ref.gvk.cluster && !isSame;
}
