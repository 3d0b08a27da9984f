import { conditionsOf, type KubeObject } from './kube-object.ts';

/** A condition without what follows from its object. */
export interface ConditionContent {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase. */
  readonly reason: string;
  /** Stable: no times or random values. */
  readonly message: string;
}

/** A `metav1.Condition`. */
export interface Condition extends ConditionContent {
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

interface ConditionOptions {
  /** Has the condition as it was. */
  readonly object: KubeObject;
  /** ISO 8601. */
  readonly now: string;
  /** @default that of the object */
  readonly observedGeneration?: number | undefined;
}

/** The condition as it is written. The time of its last transition changes only with its status. */
export function conditionFor(
  content: ConditionContent,
  { object, now, observedGeneration = object.metadata.generation }: ConditionOptions,
): Condition {
  const before = conditionsOf(object).find(({ type }) => type === content.type);
  const since = before?.status === content.status ? before.lastTransitionTime : undefined;
  return {
    ...content,
    ...(observedGeneration !== undefined && { observedGeneration }),
    // In whole seconds, like the times of the API server.
    lastTransitionTime: typeof since === 'string' ? since : now.replace(/\.\d+Z$/, 'Z'),
  };
}
