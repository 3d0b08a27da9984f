import type { ChildPlan } from '../operator-plan.ts';

/**
 * Within a tier, children that look at themselves come before those that see them: what turns out to be there already (a Secret that has
 * lost its labels) is known before anything else is made of it. `observed` itself orders nothing.
 */
export function observersFirst(
  tiers: readonly (readonly ChildPlan[])[],
): readonly (readonly ChildPlan[])[] {
  return tiers.flatMap((tier) => {
    const first = tier.filter(looksAtItself);
    const rest = tier.filter((child) => !first.includes(child));
    const isSeen = rest.some(({ childrenObserved }) =>
      first.some(({ id }) => childrenObserved.includes(id)),
    );
    return isSeen ? [first, rest] : [tier];
  });
}

function looksAtItself({ id, childrenObserved }: ChildPlan): boolean {
  return childrenObserved.includes(id);
}
