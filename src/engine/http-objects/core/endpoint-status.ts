import { type ConditionContent, conditionFor } from '#util/condition.ts';
import type { Json, JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Blocked } from './view.ts';

/** What is known of an endpoint. */
export interface EndpointFacts {
  /** Why no request can be sent. Undefined: requests can be sent. */
  readonly blocked: Pick<Blocked, 'reason' | 'message'> | undefined;
  /** Result of its check; the reason of the failure. Undefined: it has none. */
  readonly check:
    | { readonly kind: 'passed' }
    | { readonly kind: 'failed'; readonly reason: string; readonly message: string }
    | undefined;
  readonly hasCheck: boolean;
}

/**
 * Builds the status: `Ready` says whether requests can be sent, and `Reachable` whether the check succeeds. An outage of the API does not
 * make the endpoint unready, so that it does not hold what depends on it. Pure.
 */
export function endpointStatusOf(
  { blocked, check, hasCheck }: EndpointFacts,
  { object, now }: { readonly object: KubeObject; readonly now: string },
): JsonObject {
  const ready: ConditionContent =
    blocked === undefined
      ? { type: 'Ready', status: 'True', reason: 'Ready', message: '' }
      : { type: 'Ready', status: 'False', reason: blocked.reason, message: blocked.message };
  const contents = hasCheck ? [ready, reachableOf(check)] : [ready];
  const conditions = contents.map((content) => conditionFor(content, { object, now }));
  const { generation } = object.metadata;
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions: conditions as unknown as Json,
  };
}

function reachableOf(check: EndpointFacts['check']): ConditionContent {
  const type = 'Reachable';
  switch (check?.kind) {
    case 'passed':
      return { type, status: 'True', reason: 'CheckPassed', message: '' };
    case 'failed':
      return { type, status: 'False', reason: check.reason, message: check.message };
    case undefined:
      return { type, status: 'Unknown', reason: 'NotChecked', message: '' };
  }
}
