import type { ChildPlan, Element } from '../../compile/index.ts';
import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { ignoreConflict, withoutIgnored } from '../attempt/ignored-fields.ts';
import { applyBlocker, forgetRejection } from '../attempt/limiter.ts';
import { ongoingConflict } from '../attempt/ownership-conflicts.ts';
import { type Problem, problemOfWaiting } from '../failure.ts';
import type { Intent } from '../intent/intent.ts';
import { ownerUidLabel } from '../names.ts';
import { addObserved, isUnobserved } from '../observe/observe-children.ts';
import { memberProblem } from '../observe/observe-members.ts';
import { isChild } from '../ownership/is-child.ts';
import { isLabelledBy, isTerminating } from '../ownership-claims.ts';
import { clusterWrite, type ElementResult, type Pass, type PassInput } from '../pass/pass.ts';
import { isUntrackedChild } from '../removal/untracked-children.ts';
import { asAdopted, isAdopted, mayAdopt } from './adopt.ts';
import { compareIntent, isAppliedLast, rememberIntent } from './compare-intent.ts';
import {
  appliedResult,
  type DesiredElement,
  problemResult,
  unrenderedResult,
  withProblem,
} from './element-result.ts';
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
import { failedElement, isStale, sendIntent } from './send-intent.ts';

/** Maximum number of attempts in one pass for an object that changes concurrently. */
const maxTries = 4;

/** Brings one object to its desired state with as few requests as possible: none if it already is. */
async function applyElement(pass: Pass, desired: DesiredElement): Promise<ElementResult> {
  const { ref, identity } = desired.intent;
  const unusable = memberProblem(pass, ref.gvk, ref.cluster);
  if (unusable !== undefined) {
    // An object on record keeps its place: nothing waits for it in other clusters.
    const isPartial = pass.findings.inventory.has(identity);
    return problemResult(desired, { ...unusable, isPartial });
  }
  let current = desired;
  traceDesired(pass, current);
  let live = cachedObject(pass, desired.intent);
  for (let tries = 1; ; tries++) {
    if (
      live !== undefined &&
      isUnobserved(pass, current.plan, live) &&
      isUsable(pass, current, live)
    ) {
      const again = await renderAgain(pass, current, live);
      if (again.kind === 'result') return again.result;
      current = again.desired;
      traceDesired(pass, current);
    }
    const adopting = live === undefined ? current : withAdoption(pass, current, live);
    const left = withoutIgnored(pass, adopting, live);
    const settled = resultWithoutRequest(pass, left.desired, live);
    if (settled !== undefined) return repairWaiting(pass, withProblem(settled, left.problem));
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
    } catch (error) {
      if (!isRequestError(error, pass)) throw error;
      if (mayTryAgain && ignoreConflict(pass, adopting, { error, live })) continue;
      const canReplace = mayTryAgain && isReplaceable(pass, current, live);
      if (live && canReplace && mayReplaceImmutable(pass, left.desired, { error, live })) {
        const removed = await removeOutdated(pass, left.desired, live);
        if (removed !== undefined) return removed;
        live = undefined;
        continue;
      }
      if (!mayTryAgain || !isStale(error)) return failedElement(pass, left.desired, error, live);
    }
    const again = await readAndRenderAgain(pass, current);
    if (again.kind === 'result') return again.result;
    current = again.desired;
    traceDesired(pass, current);
    live = again.live;
  }
}

function traceDesired({ context, key }: PassInput, { plan, intent }: DesiredElement): void {
  context.trace?.onDesired(key, plan.id, intent);
}

type RenderedAgain =
  | {
      readonly kind: 'rendered';
      readonly desired: DesiredElement;
      readonly live: StoredObject | undefined;
    }
  | { readonly kind: 'result'; readonly result: ElementResult };

/** The cache was stale: reads the object and renders the intent again. */
async function readAndRenderAgain(pass: Pass, desired: DesiredElement): Promise<RenderedAgain> {
  const { intent } = desired;
  // Before the request: events of the object during the request must not be missed.
  pass.dependencies.desiredChild(intent.ref);
  let live: StoredObject | undefined;
  try {
    live = await pass.context.cluster.get(intent.ref, clusterWrite(pass), pass.signal);
  } catch (error) {
    if (!isRequestError(error, pass)) throw error;
    return { kind: 'result', result: failedElement(pass, desired, error) };
  }
  return renderAgain(pass, desired, live);
}

/** An intent that was rendered without the object is never applied to it. */
async function renderAgain(
  pass: Pass,
  desired: DesiredElement,
  live: StoredObject | undefined,
): Promise<RenderedAgain> {
  if (live !== undefined && isUsable(pass, desired, live)) addObserved(pass, desired.plan, live);
  const again = await resolveElement(pass, desired.plan, desired.element);
  if (again.kind === 'blocked') {
    return { kind: 'result', result: problemResult(desired, again.problem) };
  }
  // The cache was not checked for the other name, and another element may have it.
  if (again.intent.identity !== desired.intent.identity) {
    return { kind: 'result', result: problemResult(desired, unstableName) };
  }
  return { kind: 'rendered', desired: { ...desired, intent: again.intent }, live };
}

const unstableName: Problem = {
  reason: 'RenderFailed',
  message: 'metadata.name: Expected the same name whether or not the object exists',
  code: 'invalid-manifest',
  kind: 'permanent',
};

function isRequestError(error: unknown, { signal }: PassInput): error is KubeError {
  return error instanceof KubeError && !signal.aborted;
}

/** For an object that existed before, the intent is extended. */
function withAdoption(pass: Pass, desired: DesiredElement, live: StoredObject): DesiredElement {
  return desired.plan.adopt === 'Never' ? desired : asAdopted(desired, live, isOwn(pass, live));
}

/** Is it the child, or about to be adopted? Expressions never see objects of others. */
function isUsable(pass: Pass, { plan }: DesiredElement, live: StoredObject): boolean {
  return isOwnOrAdoptable(pass, plan, live);
}

/** Is it a child, or may it be adopted? */
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

/** Is it a child of this very resource? */
export function isOwn(pass: Pass, live: StoredObject): boolean {
  return isChild(pass, live) || isUntrackedChild(pass, live);
}

/** The object in the cache: among the children, or from a watch by name. */
export function cachedObject({ context }: PassInput, { ref }: Intent): StoredObject | undefined {
  const watch = context.watches.findChildren(ref.gvk, ref.cluster);
  return (
    watch?.informer.get(ref.namespace, ref.name) ?? unlessLabelled(context.watches.peekNamed(ref))
  );
}

/** Objects with our label come only from the watch on children: a lingering watch by name may be stale. */
function unlessLabelled(stored: StoredObject | undefined): StoredObject | undefined {
  return stored?.object.metadata.labels?.[ownerUidLabel] === undefined ? stored : undefined;
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
  if (isSame(pass, desired, live)) {
    pass.context.metrics.applies.increment([definition, 'skipped']);
    const unchanged = appliedResult(desired, { kind: 'unchanged' }, live);
    return withProblem(unchanged, ongoingConflict(pass, desired));
  }
  return isHeld && !isAppliedLast(pass, desired.intent)
    ? heldResult(pass, desired, live)
    : undefined;
}

/** The object is kept until a user deletes it (`updateStrategy: OnDelete`). */
function onDeleteResult(pass: Pass, desired: DesiredElement, live: StoredObject): ElementResult {
  pass.context.metrics.applies.increment([pass.context.plan.name, 'skipped']);
  // Without our label, the watch on children does not show its deletion.
  watchUnlabelled(pass, desired, live);
  return appliedResult(desired, { kind: 'unchanged' }, live);
}

function isSame(pass: Pass, { plan, intent }: DesiredElement, live: StoredObject): boolean {
  if (compareIntent(pass, { plan, intent, live }).kind === 'different') return false;
  rememberIntent(pass, plan, intent);
  forgetRejection(pass, intent);
  return true;
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

/** Applies a resolved element. One that could not be rendered is kept as it is. */
export async function applyResolved(
  pass: Pass,
  plan: ChildPlan,
  { each, waitingFor, waitsForElements = false }: ResolvedElementOptions,
): Promise<ElementResult> {
  if (each.kind === 'rendered') {
    const { element, intent } = each;
    return applyElement(pass, { plan, element, intent, waitingFor, waitsForElements });
  }
  const { problem, element, cluster } = each;
  const name = await nameOf(pass, plan, element);
  return repairWaiting(pass, unrenderedResult(pass, { plan, element, name, problem, cluster }));
}

/** The name of an element that cannot be rendered; empty if unknown. */
async function nameOf(pass: Pass, plan: ChildPlan, element: Element | undefined): Promise<string> {
  if (element === undefined && plan.isList) return '';
  const theOne = { item: undefined, index: 0 };
  const name = await pass.desiredPhase.name(plan.id, element ?? theOne);
  return name.kind === 'value' ? name.value : '';
}
