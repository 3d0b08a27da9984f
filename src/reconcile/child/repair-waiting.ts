import type { ChildPlan } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { ignoreConflict, withoutIgnored } from '../attempt/ignored-fields.ts';
import { applyBlocker } from '../attempt/limiter.ts';
import { identityOfObject } from '../identity.ts';
import { type ElementResult, type Pass, requestError } from '../pass/pass.ts';
import { differencesOf } from './compare-intent.ts';
import { liveOf, problemResult } from './element-result.ts';
import { failedElement, isStale, sendIntent } from './send-intent.ts';

/**
 * Reverts drift from the old intent while the new one is held or waits. The old intent is known only if this process applied it or found
 * it applied.
 */
export async function repairWaiting(pass: Pass, result: ElementResult): Promise<ElementResult> {
  const { live, plan, problem } = result;
  if (live === undefined || problem?.reason !== 'Waiting') return result;
  const repaired = await repairApplied(pass, plan, live);
  if (repaired === undefined) return result;
  // It still waits; a failed repair is reported first.
  return { ...result, ...repaired, element: result.element, problem: repaired.problem ?? problem };
}

/** Reverts drift in the elements of a list whose names are unknown. Returns the failed repairs. */
export async function repairElements(
  pass: Pass,
  plan: ChildPlan,
): Promise<readonly ElementResult[]> {
  const failed: ElementResult[] = [];
  for (const live of liveOf(pass, plan)) {
    if (isDesired(pass, live)) continue;
    const repaired = await repairApplied(pass, plan, live);
    if (repaired?.problem !== undefined) failed.push(repaired);
  }
  return failed;
}

/** Reverts drift from the last applied intent. Undefined: there is no drift, or the intent is unknown. */
export async function repairApplied(
  pass: Pass,
  plan: ChildPlan,
  live: StoredObject,
): Promise<ElementResult | undefined> {
  const intent = pass.state.attempts.appliedIntents.get(identityOfObject(live.object));
  if (intent === undefined) return undefined;
  if (differencesOf(pass, { plan, intent }, live) === undefined) return undefined;
  const applied = { plan, element: { item: undefined, index: 0 }, intent, waitingFor: [] };
  const { desired } = withoutIgnored(pass, applied, live);
  const problem = await applyBlocker(pass, desired, live);
  if (problem !== undefined) return problemResult(desired, problem, live);
  try {
    return await sendIntent(pass, desired, live);
  } catch (thrown) {
    const error = requestError(thrown, pass);
    const isLeft = ignoreConflict(pass, applied, { error, live });
    if (!isLeft && !isStale(error)) return failedElement(pass, desired, error, live);
    // The next pass reverts the rest, or finds the object replaced or deleted. As the error came to this pass, no event enqueues the
    // resource.
    pass.context.watches.queue.enqueueFollowUp(pass.key);
    return undefined;
  }
}

function isDesired({ findings: { desiredObjects } }: Pass, { object }: StoredObject): boolean {
  return desiredObjects.has(identityOfObject(object));
}
