import type { KubeObject } from '../kube-object.ts';
import { conditionReadiness, type ReadinessRule, readinessRules } from './rules.ts';
import {
  conditionOf,
  conditionText,
  failed,
  progressing,
  type Readiness,
  statusOf,
} from './status-reader.ts';

export type { Readiness } from './status-reader.ts';

/**
 * Readiness of an object by the rules of its kind (kstatus with its gaps closed). Uses only the object, no clock. The
 * caller checks whether the newest manifest was applied.
 */
export function readinessOf(object: KubeObject): Readiness {
  return commonReadiness(object) ?? ruleOf(object)?.of(object) ?? conditionReadiness(object);
}

function ruleOf({ apiVersion, kind }: KubeObject): ReadinessRule | undefined {
  const slash = apiVersion.indexOf('/');
  return readinessRules.get(`${apiVersion.slice(0, Math.max(slash, 0))}/${kind}`);
}

/** Rules for every kind, checked before the kind's own rule. */
function commonReadiness(object: KubeObject): Readiness | undefined {
  const { deletionTimestamp, generation } = object.metadata;
  if (deletionTimestamp !== undefined) return progressing('It is being deleted');
  const { observedGeneration } = statusOf(object);
  if (typeof observedGeneration === 'number' && observedGeneration < (generation ?? 0))
    return progressing('Its controller has not observed the last change yet');
  const stalled = conditionOf(object, 'Stalled');
  if (stalled?.status === 'True') return failed(conditionText(stalled));
  const reconciling = conditionOf(object, 'Reconciling');
  return reconciling?.status === 'True' ? progressing(conditionText(reconciling)) : undefined;
}
