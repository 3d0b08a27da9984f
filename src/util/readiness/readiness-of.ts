import type { KubeObject } from '../kube-object.ts';
import { conditionReadiness } from './api-readiness.ts';
import { type ReadinessRule, readinessRules } from './rules.ts';
import { conditionOf, conditionText, statusOf } from './status-reader.ts';
import { failed, progressing, type Readiness } from './verdict.ts';

export type { Readiness } from './verdict.ts';

/**
 * Is an object ready, by the rules of its kind (kstatus with its gaps closed)? For an object that fits its newest intent:
 * whether that was applied is the caller's question. Looks at the object alone and at no clock.
 */
export function readinessOf(object: KubeObject): Readiness {
  return commonReadiness(object) ?? ruleOf(object)?.of(object) ?? conditionReadiness(object);
}

function ruleOf({ apiVersion, kind }: KubeObject): ReadinessRule | undefined {
  const slash = apiVersion.indexOf('/');
  return readinessRules.get(`${apiVersion.slice(0, Math.max(slash, 0))}/${kind}`);
}

/** What holds for every kind, before its own rule. */
function commonReadiness(object: KubeObject): Readiness | undefined {
  const { deletionTimestamp, generation } = object.metadata;
  if (deletionTimestamp !== undefined) return progressing('It is being deleted');
  const { observedGeneration } = statusOf(object);
  if (typeof observedGeneration === 'number' && observedGeneration < (generation ?? 0))
    return progressing('Its controller has not looked at the last change yet');
  const stalled = conditionOf(object, 'Stalled');
  if (stalled?.status === 'True') return failed(conditionText(stalled));
  const reconciling = conditionOf(object, 'Reconciling');
  return reconciling?.status === 'True' ? progressing(conditionText(reconciling)) : undefined;
}
