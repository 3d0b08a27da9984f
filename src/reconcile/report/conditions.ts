import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Summary } from './summary.ts';

/** A `metav1.Condition`. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

export interface ConditionsOptions {
  /** As the pass began: its conditions say since when something is so. */
  readonly resource: KubeObject;
  readonly summary: Summary;
  /** ISO 8601. */
  readonly now: string;
}

/** The standard conditions. `Reconciling` and `Stalled` are there only while they are true (kstatus). */
export function standardConditions(options: ConditionsOptions): readonly Condition[] {
  const { isReconciling, isStalled, reason } = options.summary;
  const conditions = [condition('Ready', reason === 'AllReady' ? 'True' : 'False', options)];
  if (isReconciling) conditions.push(condition('Reconciling', 'True', options));
  if (isStalled) conditions.push(condition('Stalled', 'True', options));
  return conditions;
}

/** The conditions that a resource carries. */
export function conditionsOf({ status }: KubeObject): readonly Readonly<Record<string, unknown>>[] {
  const conditions = isJsonObject(status) ? status.conditions : undefined;
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
}

function condition(
  type: string,
  status: Condition['status'],
  { resource, summary, now }: ConditionsOptions,
): Condition {
  const before = conditionsOf(resource).find((each) => each.type === type);
  const since = before?.status === status ? before.lastTransitionTime : undefined;
  return {
    type,
    status,
    reason: summary.reason,
    message: summary.message,
    observedGeneration: resource.metadata.generation ?? 0,
    // To the second, as the API's own times are.
    lastTransitionTime: typeof since === 'string' ? since : now.replace(/\.\d+Z$/, 'Z'),
  };
}
