import type { ChildPlan, Element } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import { problemOfValue, problemOfWaiting } from '../failure.ts';
import { ignoreConflict, withoutIgnored } from '../ledger/ignored-fields.ts';
import { ongoingConflict } from '../ledger/ownership-conflicts.ts';
import { applyBlocker, forgetRejection } from '../ledger/rejections.ts';
import { addObserved, isUnobserved } from '../observe/observe-children.ts';
import { isLabelledBy, isTerminating } from '../ownership-claims.ts';
import { unavailable } from '../pass/other-clusters.ts';
import {
  clusterWrite,
  countApply,
  type ElementResult,
  type Pass,
  type PassInput,
  requestError,
} from '../pass/pass.ts';
import { isOwn } from '../removal/untracked-children.ts';
import { isAdopted, mayAdopt } from './adopt.ts';
import { cachedObject } from './cached-object.ts';
import { differencesOf, isAppliedLast, rememberIntent } from './compare-intent.ts';
import {
  appliedResult,
  type DesiredElement,
  problemResult,
  unrenderedResult,
  withProblem,
} from './element-result.ts';
import { forObject } from './for-object.ts';
import { repairWaiting } from './repair-waiting.ts';
import {
  conflictResult,
  deletingResult,
  isOutdated,
  mayReplaceImmutable,
  removeOutdated,
  watchUnlabelled,
} from './replace-element.ts';
import { type ResolvedElement, resolveElement } from './resolve-child.ts';
import { applyUnlessDone } from './run-to-completion.ts';
import { failedElement, isStale, sendIntent } from './send-intent.ts';

/** Maximum number of attempts in one pass for an object that changes concurrently. */
const maxTries = 4;

/** Brings one object to its desired state with as few requests as possible: none if it already is. */
async function applyElement(pass: Pass, desired: DesiredElement): Promise<ElementResult> {
  const { ref, identity } = desired.intent;
  const unusable = unavailable(pass, ref.gvk);
  if (unusable !== undefined) {
    // An object on record keeps its place: nothing waits for it in other clusters.
    const isPartial = pass.findings.inventory.has(identity);
    return problemResult(desired, { ...unusable, isPartial });
  }
  let current = desired;
  let live = cachedObject(pass, desired.intent);
  let isReadAgain = false;
  traceDesired(pass, current);
  for (let tries = 1; ; tries++) {
    if (isReadAgain || isRenderedWithout(pass, current, live)) {
      const again = await renderAgain(pass, current, live);
      if ('name' in again) return again;
      current = again;
      isReadAgain = false;
      traceDesired(pass, current);
    }
    const fitting = forObject(pass, current, live);
    const left = withoutIgnored(pass, fitting, live);
    const settled = resultWithoutRequest(pass, left.desired, live);
    if (settled !== undefined) return withProblem(settled, left.problem);
    const mayTryAgain = tries < maxTries;
    if (
      live &&
      mayTryAgain &&
      isReplaceable(pass, current, live) &&
      isOutdated(pass, left.desired, live)
    ) {
      const removed = await removeOutdated(pass, left.desired, live);
      if (removed !== undefined) return removed;
      live = undefined;
      continue;
    }
    const problem = await applyBlocker(pass, left.desired, live);
    if (problem !== undefined) return problemResult(left.desired, problem, live);
    try {
      const sent = await sendIntent(pass, left.desired, live);
      return withProblem(withProblem(sent, ongoingConflict(pass, left.desired)), left.problem);
    } catch (thrown) {
      const error = requestError(thrown, pass);
      if (mayTryAgain && ignoreConflict(pass, fitting, { error, live })) continue;
      const canReplace = mayTryAgain && isReplaceable(pass, current, live);
      if (live && canReplace && mayReplaceImmutable(pass, left.desired, { error, live })) {
        const removed = await removeOutdated(pass, left.desired, live);
        if (removed !== undefined) return removed;
        live = undefined;
        continue;
      }
      if (!mayTryAgain || !isStale(error)) return failedElement(pass, left.desired, error, live);
    }
    const found = await readAgain(pass, current);
    if ('name' in found) return found;
    live = found.live;
    isReadAgain = true;
  }
}

/** Was the intent rendered without its object, though it depends on it? */
function isRenderedWithout(
  pass: Pass,
  { plan }: DesiredElement,
  live: StoredObject | undefined,
): boolean {
  return live !== undefined && isUnobserved(pass, plan, live) && isOwnOrAdoptable(pass, plan, live);
}

function traceDesired({ context, key }: PassInput, { plan, intent }: DesiredElement): void {
  context.trace?.onDesired(key, plan.id, intent);
}

/** The cache was stale: reads the object. Events of the object during the request are not missed. */
async function readAgain(
  pass: Pass,
  desired: DesiredElement,
): Promise<{ readonly live: StoredObject | undefined } | ElementResult> {
  const { ref } = desired.intent;
  pass.dependencies.desiredChild(ref);
  try {
    return { live: await pass.context.cluster.get(ref, clusterWrite(pass), pass.signal) };
  } catch (error) {
    return failedElement(pass, desired, requestError(error, pass));
  }
}

/** Renders an intent with its object: one that was rendered without the object is never applied to it. */
async function renderAgain(
  pass: Pass,
  desired: DesiredElement,
  live: StoredObject | undefined,
): Promise<DesiredElement | ElementResult> {
  if (live !== undefined && isOwnOrAdoptable(pass, desired.plan, live))
    addObserved(pass, desired.plan, live);
  const again = await resolveElement(pass, desired.plan, desired.element);
  if (again.kind === 'blocked') return problemResult(desired, again.problem);
  // The cache was not checked for the other name, and another element may have it.
  if (again.intent.identity !== desired.intent.identity)
    return problemResult(desired, problemOfValue(unstableName));
  return { ...desired, intent: again.intent };
}

const unstableName = 'metadata.name: Expected the same name whether or not the object exists';

/** Is it a child, or may it be adopted? Expressions never see objects of others. */
export function isOwnOrAdoptable(pass: Pass, plan: ChildPlan, live: StoredObject): boolean {
  return isOwn(pass, live) || mayAdopt(pass, plan, live);
}

/** Is it a child that Homeostat created? An adopted object is changed in place or not at all. */
function isReplaceable(
  pass: Pass,
  { plan }: DesiredElement,
  live: StoredObject | undefined,
): boolean {
  return live !== undefined && isOwn(pass, live) && !isAdopted(plan, live);
}

/** The result, if no request is needed. */
function resultWithoutRequest(
  pass: Pass,
  desired: DesiredElement,
  live: StoredObject | undefined,
): ElementResult | undefined {
  const isHeld = desired.waitingFor.length > 0;
  if (live === undefined) return isHeld ? heldResult(pass, desired) : undefined;
  const definition = pass.context.plan.name;
  const ours = isOwn(pass, live);
  if (isTerminating(live.object) && (ours || isLabelledBy(live.object, definition))) {
    return deletingResult(pass, desired, live);
  }
  if (!ours) {
    if (!mayAdopt(pass, desired.plan, live)) return conflictResult(pass, desired, live);
    return isHeld ? heldResult(pass, desired) : undefined;
  }
  if (desired.plan.updateStrategy.type === 'OnDelete') return onDeleteResult(pass, desired, live);
  if (differencesOf(pass, desired, live) === undefined) {
    rememberIntent(pass, desired.plan, desired.intent);
    forgetRejection(pass, desired.intent);
    countApply(pass, 'skipped');
    return withProblem(appliedResult(desired, live), ongoingConflict(pass, desired));
  }
  return isHeld && !isAppliedLast(pass, desired.intent)
    ? heldResult(pass, desired, live)
    : undefined;
}

/** The object is kept until a user deletes it (`updateStrategy: OnDelete`). */
function onDeleteResult(pass: Pass, desired: DesiredElement, live: StoredObject): ElementResult {
  countApply(pass, 'skipped');
  // Without our label, the watch on children does not show its deletion.
  watchUnlabelled(pass, desired, live);
  return appliedResult(desired, live);
}

function heldResult(pass: Pass, desired: DesiredElement, live?: StoredObject): ElementResult {
  // An object of another owner may exist: it must be observed.
  if (live === undefined) pass.dependencies.desiredChild(desired.intent.ref);
  const waiting = problemOfWaiting(desired.waitingFor);
  const problem = desired.waitsForElements === true ? { ...waiting, isPartial: true } : waiting;
  return problemResult(desired, problem, live);
}

/** One element of a child, and its dependencies. */
interface ResolvedElementOptions {
  readonly each: ResolvedElement;
  /** What must be ready first, for people: `children.database to be ready`. */
  readonly waitingFor: readonly string[];
  /** Does it wait only for elements of its own child? Then its desired state is known. @default false */
  readonly waitsForElements?: boolean;
}

/** Applies a resolved element. One that waits, or could not be rendered, is kept as it is but for drift. */
export async function applyResolved(
  pass: Pass,
  plan: ChildPlan,
  options: ResolvedElementOptions,
): Promise<ElementResult> {
  return repairWaiting(pass, await applyOrKeep(pass, plan, options));
}

async function applyOrKeep(
  pass: Pass,
  plan: ChildPlan,
  { each, waitingFor, waitsForElements = false }: ResolvedElementOptions,
): Promise<ElementResult> {
  if (each.kind !== 'rendered') {
    const name = await nameOf(pass, plan, each.element);
    return unrenderedResult(pass, { plan, each, name });
  }
  const { element, intent } = each;
  const desired = { plan, element, intent, waitingFor, waitsForElements };
  const apply = () => applyElement(pass, desired);
  if (plan.mayRunOnce !== true) return apply();
  return applyUnlessDone(pass, desired, { live: cachedObject(pass, intent), apply });
}

/** The name of an element that cannot be rendered; empty if unknown. */
async function nameOf(pass: Pass, plan: ChildPlan, element: Element | undefined): Promise<string> {
  if (element === undefined && plan.isList) return '';
  const theOne = { item: undefined, index: 0 };
  const name = await pass.desiredPhase.name(plan.id, element ?? theOne);
  return name.kind === 'value' ? name.value : '';
}
