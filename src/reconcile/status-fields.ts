import type { OperatorPlan } from '../compile/index.ts';

/** Conditions that every pass reports on a kind of the definition's own. */
export const standardConditionTypes: ReadonlySet<unknown> = new Set([
  'Ready',
  'Reconciling',
  'Stalled',
]);

/** The condition types that this definition writes; others are left alone. For kinds of `for`, only mapped ones are written. */
export function conditionTypesOf(plan: OperatorPlan): ReadonlySet<unknown> {
  const authored = plan.reporting?.conditionTypes ?? [];
  if (isForeign(plan)) return new Set(authored);
  return authored.length === 0
    ? standardConditionTypes
    : new Set([...standardConditionTypes, ...authored]);
}

/** Does another party define the kind (`for`)? Only mapped status fields are written then. */
export function isForeign({ definition }: OperatorPlan): boolean {
  return definition.kind.source === 'for';
}

/** Status fields that every pass reports besides the conditions. */
const standardStatusKeys = [
  'observedGeneration',
  'definitionRevision',
  'children',
  'childCounts',
  'childInventory',
] as const;

/** All status fields that a pass writes, except `conditions`, which are compared by type. */
export function statusKeysOf(plan: OperatorPlan): readonly string[] {
  const mapped = Object.keys(plan.definition.status);
  return isForeign(plan) ? mapped : [...standardStatusKeys, ...mapped];
}
