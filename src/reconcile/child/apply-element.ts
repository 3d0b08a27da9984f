import type { ChildPlan, Element } from '../../compile/index.ts';
import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { ignoreConflict, withoutIgnored } from '../attempt/ignored-fields.ts';
import { whyNotApply } from '../attempt/limiter.ts';
import { stillContested } from '../attempt/ownership-conflicts.ts';
import { type Problem, problemOfWaiting } from '../failure.ts';
import type { Intent } from '../intent/intent.ts';
import { ownerUidLabel } from '../names.ts';
import { isUnseen, observeAlso } from '../observe/observe-children.ts';
import { isLabelledBy, isTerminating } from '../owner.ts';
import { isChild } from '../ownership/is-child.ts';
import { type ElementResult, type Given, type Pass, worldWrite } from '../pass/pass.ts';
import { isLostOne } from '../removal/strays.ts';
import { asAdopted, isTakenOver, mayAdopt } from './adopt.ts';
import { compareIntent, isAppliedLast, rememberIntent } from './compare-intent.ts';
import {
  blockedElement,
  hinderedElement,
  settledElement,
  type WantedElement,
  withProblem,
} from './element-result.ts';
import { conflictResult, leavingResult, watchOutsider } from './in-the-way.ts';
import { keepApplied } from './keep-applied.ts';
import { isOutdated, mayReplaceImmutable, removeOutdated } from './replace-element.ts';
import { type ResolvedElement, resolveElement } from './resolve-child.ts';
import { failedElement, isStale, sendIntent } from './send-intent.ts';

/** How often one pass follows an object that changes under its hands. */
const maxTries = 4;

/** Makes one object as wanted, with as few requests as can be: none when it is so already. */
async function applyElement(pass: Pass, wanted: WantedElement): Promise<ElementResult> {
  let current = wanted;
  let live = lookUp(pass, wanted.intent);
  for (let tries = 1; ; tries++) {
    if (live !== undefined && isUnseen(pass, current.plan, live) && isMeant(pass, current, live)) {
      const again = await renderAgain(pass, current, live);
      if (again.kind === 'result') return again.result;
      current = again.wanted;
    }
    const adopting = live === undefined ? current : adoptingIn(pass, current, live);
    const left = withoutIgnored(pass, adopting, live);
    const settled = settle(pass, left.wanted, live);
    if (settled !== undefined) return keepApplied(pass, withProblem(settled, left.problem));
    const mayTryAgain = tries < maxTries;
    if (
      live &&
      mayTryAgain &&
      isReplaceable(pass, current, live) &&
      isOutdated(pass, left.wanted, live)
    ) {
      const removed = await removeOutdated(pass, left.wanted, live);
      if (removed !== undefined) return removed;
      live = undefined;
      continue;
    }
    const problem = await whyNotApply(pass, left.wanted, live);
    if (problem !== undefined) return hinderedElement(left.wanted, problem, live);
    try {
      const sent = await sendIntent(pass, left.wanted, live);
      return withProblem(withProblem(sent, stillContested(pass, left.wanted)), left.problem);
    } catch (error) {
      if (!isOfRequest(error, pass)) throw error;
      if (mayTryAgain && ignoreConflict(pass, adopting, { error, live })) continue;
      const canReplace = mayTryAgain && isReplaceable(pass, current, live);
      if (live && canReplace && mayReplaceImmutable(pass, left.wanted, { error, live })) {
        const removed = await removeOutdated(pass, left.wanted, live);
        if (removed !== undefined) return removed;
        live = undefined;
        continue;
      }
      if (!mayTryAgain || !isStale(error)) return failedElement(pass, left.wanted, error, live);
    }
    const again = await readAndRenderAgain(pass, current);
    if (again.kind === 'result') return again.result;
    current = again.wanted;
    live = again.live;
  }
}

type Again =
  | {
      readonly kind: 'wanted';
      readonly wanted: WantedElement;
      readonly live: StoredObject | undefined;
    }
  | { readonly kind: 'result'; readonly result: ElementResult };

/** The cache was behind: the object is read, and the intent made anew with it in the world. */
async function readAndRenderAgain(pass: Pass, wanted: WantedElement): Promise<Again> {
  const { intent } = wanted;
  // Before the answer: what happens to the object while it is on its way must not be missed.
  pass.dependencies.wanted(intent.ref);
  let live: StoredObject | undefined;
  try {
    live = await pass.context.cluster.get(intent.ref, worldWrite(pass), pass.signal);
  } catch (error) {
    if (!isOfRequest(error, pass)) throw error;
    return { kind: 'result', result: failedElement(pass, wanted, error) };
  }
  return renderAgain(pass, wanted, live);
}

/** An intent that was made without the object is never applied to it. */
async function renderAgain(
  pass: Pass,
  wanted: WantedElement,
  live: StoredObject | undefined,
): Promise<Again> {
  if (live !== undefined && isMeant(pass, wanted, live)) observeAlso(pass, wanted.plan, live);
  const again = await resolveElement(pass, wanted.plan, wanted.element);
  if (again.kind === 'blocked') {
    return { kind: 'result', result: hinderedElement(wanted, again.problem) };
  }
  // Under the other name nobody may have looked, and another element may want it.
  if (again.intent.identity !== wanted.intent.identity) {
    return { kind: 'result', result: hinderedElement(wanted, unsteadyName) };
  }
  return { kind: 'wanted', wanted: { ...wanted, intent: again.intent }, live };
}

const unsteadyName: Problem = {
  reason: 'RenderFailed',
  message: 'metadata.name: Expected the same name whether the object is there or not',
  code: 'invalid-manifest',
  kind: 'permanent',
};

function isOfRequest(error: unknown, { signal }: Given): error is KubeError {
  return error instanceof KubeError && !signal.aborted;
}

/** What is to be made of an object that was there before us is not quite what was asked for. */
function adoptingIn(pass: Pass, wanted: WantedElement, live: StoredObject): WantedElement {
  return wanted.plan.adopt === 'Never' ? wanted : asAdopted(wanted, live, isMine(pass, live));
}

/** Is it the child, or going to be? What belongs to others no expression ever sees. */
function isMeant(pass: Pass, { plan }: WantedElement, live: StoredObject): boolean {
  return mayTake(pass, plan, live);
}

/** Is it ours, or may it be taken over? */
export function mayTake(pass: Pass, plan: ChildPlan, live: StoredObject): boolean {
  return isMine(pass, live) || mayAdopt(pass, plan, live);
}

/** Is it ours, and made by us? What was there before us is changed in place or not at all. */
function isReplaceable(
  pass: Pass,
  { plan }: WantedElement,
  live: StoredObject | undefined,
): boolean {
  return live !== undefined && isMine(pass, live) && !isTakenOver(plan, live);
}

/** Is it ours, for this very resource? */
export function isMine(pass: Pass, live: StoredObject): boolean {
  return isChild(pass, live) || isLostOne(pass, live);
}

/** The object as the cache knows it: among the children, or in our way. */
export function lookUp({ context }: Given, { ref }: Intent): StoredObject | undefined {
  const { informer } = context.watches.children(ref.gvk);
  return informer.get(ref.namespace, ref.name) ?? inOurWay(context.watches.peekNamed(ref));
}

/** Of what carries our label the children's watch alone tells: a watch by name that lingers may be behind it. */
function inOurWay(stored: StoredObject | undefined): StoredObject | undefined {
  return stored?.object.metadata.labels?.[ownerUidLabel] === undefined ? stored : undefined;
}

/** The result, where nothing has to be sent. */
function settle(
  pass: Pass,
  wanted: WantedElement,
  live: StoredObject | undefined,
): ElementResult | undefined {
  const isHeld = wanted.held.length > 0;
  if (live === undefined) return isHeld ? heldResult(pass, wanted) : undefined;
  const definition = pass.context.plan.name;
  const ours = isMine(pass, live);
  if (isTerminating(live.object) && (ours || isLabelledBy(live.object, definition))) {
    return leavingResult(pass, wanted, live);
  }
  if (!ours) {
    if (!mayAdopt(pass, wanted.plan, live)) return conflictResult(pass, wanted, live);
    return isHeld ? heldResult(pass, wanted) : undefined;
  }
  if (wanted.plan.updateStrategy.type === 'OnDelete') return leftAlone(pass, wanted, live);
  if (isSame(pass, wanted, live)) {
    pass.context.metrics.applies.increment([definition, 'skipped']);
    const unchanged = settledElement(wanted, { kind: 'unchanged' }, live);
    return withProblem(unchanged, stillContested(pass, wanted));
  }
  return isHeld && !isAppliedLast(pass, wanted.intent) ? heldResult(pass, wanted, live) : undefined;
}

/** What is there is left to whoever deletes it (`updateStrategy: OnDelete`). */
function leftAlone(pass: Pass, wanted: WantedElement, live: StoredObject): ElementResult {
  pass.context.metrics.applies.increment([pass.context.plan.name, 'skipped']);
  // Without our label no watch on children would tell that it goes.
  watchOutsider(pass, wanted, live);
  return settledElement(wanted, { kind: 'unchanged' }, live);
}

function isSame(pass: Pass, { plan, intent }: WantedElement, live: StoredObject): boolean {
  if (compareIntent(pass, { plan, intent, live }).kind === 'different') return false;
  rememberIntent(pass, plan, intent);
  return true;
}

function heldResult(pass: Pass, wanted: WantedElement, live?: StoredObject): ElementResult {
  // Nobody else's object may be waited behind unseen.
  if (live === undefined) pass.dependencies.wanted(wanted.intent.ref);
  const waiting = problemOfWaiting(wanted.held);
  const problem = wanted.isInTurn === true ? { ...waiting, isPartial: true } : waiting;
  return hinderedElement(wanted, problem, live);
}

/** One element of a child, and what it waits for. */
interface ResolvedTurn {
  readonly each: ResolvedElement;
  /** What has to be ready first, for people: `children.database to be ready`. */
  readonly held: readonly string[];
  /** It waits for other elements of its own child only, of which all is known. @default false */
  readonly isInTurn?: boolean;
}

/** Makes an element as it was resolved; what could not be rendered stays as it is. */
export async function applyResolved(
  pass: Pass,
  plan: ChildPlan,
  { each, held, isInTurn = false }: ResolvedTurn,
): Promise<ElementResult> {
  if (each.kind === 'rendered') {
    const { element, intent } = each;
    return applyElement(pass, { plan, element, intent, held, isInTurn });
  }
  const { problem, element } = each;
  const name = await nameOf(pass, plan, element);
  return keepApplied(pass, blockedElement(pass, { plan, element, name, problem }));
}

/** What an element that cannot be rendered would be called; empty where even that is not known. */
async function nameOf(pass: Pass, plan: ChildPlan, element: Element | undefined): Promise<string> {
  if (element === undefined && plan.isList) return '';
  const theOne = { item: undefined, index: 0 };
  const name = await pass.wanting.name(plan.id, element ?? theOne);
  return name.kind === 'value' ? name.value : '';
}
