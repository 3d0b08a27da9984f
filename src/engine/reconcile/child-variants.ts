import type { ChildPlan } from '#compile';

/** The plan of a child for each of its kinds. */
export function variantsOf(plan: ChildPlan): readonly ChildPlan[] {
  return plan.variants ?? [plan];
}
