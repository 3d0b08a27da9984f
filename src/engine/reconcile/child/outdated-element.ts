import type { ChildPlan, Element } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import type { Intent } from '../intent/intent.ts';
import { intentHashOf } from '../intent/marks.ts';
import { isTerminating } from '../ownership-claims.ts';
import { unavailable } from '../pass/other-clusters.ts';
import type { ElementResult, Pass } from '../pass/pass.ts';
import { isOwn } from '../removal/untracked-children.ts';
import { cachedObject } from './cached-object.ts';
import { differencesOf, hasNewIntent, isAppliedLast } from './compare-intent.ts';
import { appliedResult, type DesiredElement } from './element-result.ts';
import { forObject } from './for-object.ts';

/** The element with an outdated object. Undefined: there is no object, only another manager changed it, or it is not a child. */
export function outdatedElement(
  pass: Pass,
  plan: ChildPlan,
  { element, intent }: { readonly element: Element; readonly intent: Intent },
): ElementResult | undefined {
  const isKnown = unavailable(pass, intent.ref.gvk) === undefined;
  const live = isKnown ? cachedObject(pass, intent) : undefined;
  if (live === undefined || isTerminating(live.object) || !isOwn(pass, live)) return undefined;
  const desired = forObject(pass, { plan, element, intent, waitingFor: [] }, live);
  return hasOldIntent(pass, desired, live) ? appliedResult(desired, live) : undefined;
}

function hasOldIntent(pass: Pass, desired: DesiredElement, live: StoredObject): boolean {
  if (intentHashOf(live.object) !== undefined) return hasNewIntent(pass, desired, live);
  return differencesOf(pass, desired, live) !== undefined && !isAppliedLast(pass, desired.intent);
}
