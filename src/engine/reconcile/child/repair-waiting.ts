import type { ChildPlan } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import { identityOfObject } from '../identity.ts';
import { withoutLeft } from '../intent/left-fields.ts';
import { ignoreConflict, withoutIgnored } from '../ledger/ignored-fields.ts';
import { applyBlocker } from '../ledger/rejections.ts';
import { type ElementResult, type Pass, requestError } from '../pass/pass.ts';
import { differencesOf } from './compare-intent.ts';
import { liveOf, problemResult } from './element-result.ts';
import { failedElement, isStale, sendIntent } from './send-intent.ts';

/**
 * Reverts drift from the old intent while the new one is held or waits: how every element ends. The old intent is known only if this process
 * applied it or found it applied.
 */
export async function repairWaiting(pass: Pass, result: ElementResult): Promise<ElementResult> {
  return result.problem?.reason === 'Waiting' ? repairKept(pass, result) : result;
}

/** The result of an element that is kept as it is, but for drift. A failed repair is reported first. */
export async function repairKept(pass: Pass, result: ElementResult): Promise<ElementResult> {
  const { live, plan, element } = result;
  const repaired = live && (await repairApplied(pass, plan, live));
  if (repaired === undefined) return result;
  const problem = repaired.problem ?? result.problem;
  return { ...result, ...repaired, element, ...(problem && { problem }) };
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
async function repairApplied(
  pass: Pass,
  plan: ChildPlan,
  live: StoredObject,
): Promise<ElementResult | undefined> {
  const applied = pass.state.responses.appliedIntents.get(identityOfObject(live));
  if (applied === undefined) return undefined;
  const intent = withoutLeft(plan, applied);
  if (differencesOf(pass, { plan, intent }, live) === undefined) return undefined;
  const element = { plan, element: { item: undefined, index: 0 }, intent, waitingFor: [] };
  const { desired } = withoutIgnored(pass, element, live);
  const problem = await applyBlocker(pass, desired, live);
  if (problem !== undefined) return problemResult(desired, problem, live);
  try {
    return await sendIntent(pass, desired, live);
  } catch (thrown) {
    const error = requestError(thrown, pass);
    const isLeft = ignoreConflict(pass, element, { error, live });
    if (!isLeft && !isStale(error)) return failedElement(pass, desired, error, live);
    // The next pass reverts the rest, or finds the object replaced or deleted. As the error came to this pass, no event enqueues the
    // resource.
    pass.again('child-changed');
    return undefined;
  }
}

function isDesired({ findings: { desiredObjects } }: Pass, live: StoredObject): boolean {
  return desiredObjects.has(identityOfObject(live));
}
