import type { OperatorPlan } from '#compile';
import { isJsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';

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

/** The status of a resource; empty if it has none. */
export function statusOf(resource: KubeObject | undefined): Readonly<Record<string, unknown>> {
  return isJsonObject(resource?.status) ? resource.status : {};
}

/** Our part of the status, as it is. */
export function ownStatusOf(resource: KubeObject, plan: OperatorPlan) {
  const status = statusOf(resource);
  const types = conditionTypesOf(plan);
  const ours = statusKeysOf(plan).filter((field) => status[field] !== undefined);
  return {
    ...Object.fromEntries(ours.map((field) => [field, status[field]])),
    conditions: conditionsOf(resource).filter(({ type }) => types.has(type)),
  };
}
