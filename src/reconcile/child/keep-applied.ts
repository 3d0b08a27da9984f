import type { ChildPlan } from '../../compile/index.ts';
import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import { ignoreConflict, withoutIgnored } from '../attempt/ignored-fields.ts';
import { whyNotApply } from '../attempt/limiter.ts';
import { identityOf, topicOf } from '../identity.ts';
import type { ElementResult, Pass } from '../pass/pass.ts';
import { compareIntent } from './compare-intent.ts';
import { hinderedElement, liveOf } from './element-result.ts';
import { failedElement, isStale, sendIntent } from './send-intent.ts';

/**
 * An element whose new intent is held or waits keeps the old one: what somebody changed of that is put back. Known only of
 * intents that this process has applied or found as they were.
 */
export async function keepApplied(pass: Pass, result: ElementResult): Promise<ElementResult> {
  const { live, plan, problem } = result;
  if (live === undefined || problem?.reason !== 'Waiting') return result;
  const repaired = await repairApplied(pass, plan, live);
  if (repaired === undefined) return result;
  // It still waits; only if the repair failed is that the more urgent thing to tell.
  return { ...result, ...repaired, element: result.element, problem: repaired.problem ?? problem };
}

/** The same for the elements of a list of which not even the names are known now. Gives the repairs that failed. */
export async function keepElements(pass: Pass, plan: ChildPlan): Promise<readonly ElementResult[]> {
  const failed: ElementResult[] = [];
  for (const live of liveOf(pass, plan)) {
    if (isClaimed(pass, live)) continue;
    const repaired = await repairApplied(pass, plan, live);
    if (repaired?.problem !== undefined) failed.push(repaired);
  }
  return failed;
}

/** Puts back what somebody changed of the intent that was applied last. Undefined: it is as it was applied, or not known. */
export async function repairApplied(
  pass: Pass,
  plan: ChildPlan,
  live: StoredObject,
): Promise<ElementResult | undefined> {
  const intent = pass.state.attempts.appliedIntents.get(topicOfStored(live));
  if (intent === undefined) return undefined;
  if (compareIntent(pass, { plan, intent, live }).kind === 'same') return undefined;
  const applied = { plan, element: { item: undefined, index: 0 }, intent, held: [] };
  const { wanted } = withoutIgnored(pass, applied, live);
  const problem = await whyNotApply(pass, wanted, live);
  if (problem !== undefined) return hinderedElement(wanted, problem, live);
  try {
    return await sendIntent(pass, wanted, live);
  } catch (error) {
    if (!(error instanceof KubeError) || pass.signal.aborted) throw error;
    const isLeft = ignoreConflict(pass, applied, { error, live });
    if (!isLeft && !isStale(error)) return failedElement(pass, wanted, error, live);
    // The rest of it is put back next; or it was replaced or is gone by now. The answer said so to this very pass, so that no event
    // wakes the resource.
    pass.context.follow(pass.key);
    return undefined;
  }
}

function isClaimed({ found: { claims } }: Pass, { object }: StoredObject): boolean {
  const { namespace, name } = object.metadata;
  return claims.has(identityOf(gvkOf(object.apiVersion, object.kind), namespace, name));
}

function topicOfStored({ object }: StoredObject): string {
  const { namespace, name } = object.metadata;
  return topicOf(gvkOf(object.apiVersion, object.kind), namespace, name);
}
