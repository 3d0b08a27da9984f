import type { OperatorPlan } from '../../compile/index.ts';

/** Conditions that are ours; those of others in the same list are left alone. */
export const ownConditionTypes: ReadonlySet<unknown> = new Set(['Ready', 'Reconciling', 'Stalled']);

/** Status fields that every pass reports besides the conditions. */
export const standardStatusKeys = [
  'observedGeneration',
  'definitionRevision',
  'children',
  'childCounts',
] as const;

/** All status fields that we write, except `conditions`, which are compared by type. */
export function statusKeysOf(plan: OperatorPlan): readonly string[] {
  return [...standardStatusKeys, ...Object.keys(plan.definition.status)];
}
