import { conditionsOf } from '../../util/conditions-of.ts';
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

function condition(
  type: string,
  status: Condition['status'],
  { resource, summary, now }: ConditionsOptions,
): Condition {
  const { reason, message } = summary;
  return createCondition({ type, status, reason, message }, { resource, now });
}

/** A condition as it is said now; the time of its last transition changes with its status only. */
export function createCondition(
  said: Pick<Condition, 'type' | 'status' | 'reason' | 'message'>,
  { resource, now }: Pick<ConditionsOptions, 'resource' | 'now'>,
): Condition {
  const before = conditionsOf(resource).find(({ type }) => type === said.type);
  const since = before?.status === said.status ? before.lastTransitionTime : undefined;
  return {
    ...said,
    observedGeneration: resource.metadata.generation ?? 0,
    // To the second, as the API's own times are.
    lastTransitionTime: typeof since === 'string' ? since : now.replace(/\.\d+Z$/, 'Z'),
  };
}
