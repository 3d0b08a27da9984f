import type { OperatorPlan } from '../compile/index.ts';

/** Conditions that every pass reports on a kind of our own. */
export const standardConditionTypes: ReadonlySet<unknown> = new Set([
  'Ready',
  'Reconciling',
  'Stalled',
]);

/** Conditions that are ours; those of others in the same list are left alone. On a kind of `for` none is written unless mapped. */
export function conditionTypesOf(plan: OperatorPlan): ReadonlySet<unknown> {
  const authored = plan.reporting?.conditionTypes ?? [];
  if (isForeign(plan)) return new Set(authored);
  return authored.length === 0
    ? standardConditionTypes
    : new Set([...standardConditionTypes, ...authored]);
}

/** Is the kind somebody else's, so that nothing but what is mapped is written into its status? */
export function isForeign({ definition }: OperatorPlan): boolean {
  return definition.kind.source === 'for';
}

/** Status fields that every pass reports besides the conditions. */
export const standardStatusKeys = [
  'observedGeneration',
  'definitionRevision',
  'children',
  'childCounts',
  'childInventory',
] as const;

/** All status fields that we write, except `conditions`, which are compared by type. */
export function statusKeysOf(plan: OperatorPlan): readonly string[] {
  const mapped = Object.keys(plan.definition.status);
  return isForeign(plan) ? mapped : [...standardStatusKeys, ...mapped];
}
