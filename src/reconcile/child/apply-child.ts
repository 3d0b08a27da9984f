import type { ChildPlan, Element } from '../../compile/index.ts';
import type { RollingUpdate } from '../../definition/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import type { Problem } from '../failure.ts';
import type { Intent } from '../intent/intent.ts';
import { intentHashOf } from '../intent/marks.ts';
import { memberProblem } from '../observe/observe-members.ts';
import { isTerminating } from '../ownership-claims.ts';
import {
  allSettledOrThrow,
  type ChildResult,
  type ElementResult,
  type Pass,
} from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import { asAdopted } from './adopt.ts';
import { applyResolved, cachedObject, isOwn } from './apply-element.ts';
import { compareIntent, hasNewIntent, isAppliedLast } from './compare-intent.ts';
import { appliedResult, type DesiredElement, problemResult } from './element-result.ts';
import { readinessOfElement, unreadyDependencies } from './readiness.ts';
import { repairApplied, repairElements, repairWaiting } from './repair-waiting.ts';
import type { ResolvedChild, ResolvedElement } from './resolve-child.ts';

/** Applies a resolved child: all elements at once, unless its plan demands a sequence. */
export async function applyChild(pass: Pass, resolved: ResolvedChild): Promise<ChildResult> {
  const { plan, isDesired, elements } = resolved;
  if (!isDesired) return { plan, resolution: 'omitted', elements: [] };
  const waitingFor = await waitingByCluster(pass, resolved);
  const results = isSequential(plan)
    ? await applySequential(pass, resolved, waitingFor)
    : await allSettledOrThrow(
        elements.map((each) =>
          applyResolved(pass, plan, { each, waitingFor: waitingFor(clusterOf(each)) }),
        ),
      );
  if (elements.every(({ kind }) => kind === 'rendered')) {
    return { plan, resolution: 'desired', elements: results };
  }
  const waits = results.some(({ problem }) => problem?.reason === 'Waiting');
  const failed = plan.isList && waits ? await repairElements(pass, plan) : [];
  return { plan, resolution: 'unknown', elements: [...results, ...failed] };
}

/** What must be ready before an element, by its member cluster: of another child in members, the elements there count. */
type WaitingFor = (cluster: string | undefined) => readonly string[];

async function waitingByCluster(
  pass: Pass,
  { plan, elements }: ResolvedChild,
): Promise<WaitingFor> {
  const clusters = new Set([undefined, ...elements.map(clusterOf)]);
  const held = new Map<string | undefined, readonly string[]>();
  for (const cluster of clusters) held.set(cluster, await unreadyDependencies(pass, plan, cluster));
  return (cluster) => held.get(cluster) ?? [];
}

function clusterOf(each: ResolvedElement): string | undefined {
  return each.kind === 'rendered' ? each.intent.ref.cluster : each.cluster;
}

/** Is the element in a member that cannot be used now? Then no other element waits for it. */
function isUnreachable({ problem }: ElementResult): boolean {
  return problem?.reason === 'ClusterUnreachable';
}

/** Are the elements of this child applied in a sequence? */
function isSequential({ isList, ordered, updateStrategy }: ChildPlan): boolean {
  return isList && (ordered || updateStrategy.rollingUpdate !== undefined);
}

/**
 * Applies the elements of a child in sequence: new ones one after the other (`ordered`), outdated ones a few at a time (`rollingUpdate`).
 * Drift is repaired at once.
 * @param waitingFor What must be ready before an element; until then it is not applied.
 */
async function applySequential(
  pass: Pass,
  { plan, elements }: ResolvedChild,
  waitingFor: WaitingFor,
): Promise<readonly ElementResult[]> {
  const isRolling = plan.updateStrategy.rollingUpdate !== undefined;
  const outdated = elements.map((each) =>
    isRolling && each.kind === 'rendered' && waitingFor(clusterOf(each)).length === 0
      ? outdatedElement(pass, plan, each)
      : undefined,
  );
  const results = plan.ordered
    ? await applyOrdered(pass, plan, { elements, outdated, waitingForTurn: waitingFor })
    : await allSettledOrThrow(
        elements.map(async (each, index) =>
          outdated[index] === undefined
            ? applyResolved(pass, plan, { each, waitingFor: waitingFor(clusterOf(each)) })
            : undefined,
        ),
      );
  return applyRollingUpdate(pass, plan, { outdated, results });
}

interface OrderedElements {
  readonly elements: readonly ResolvedElement[];
  readonly outdated: readonly (OutdatedElement | undefined)[];
  readonly waitingForTurn: WaitingFor;
}

/** Creates an element once the previous one is ready. */
async function applyOrdered(
  pass: Pass,
  plan: ChildPlan,
  { elements, outdated, waitingForTurn }: OrderedElements,
): Promise<readonly (ElementResult | undefined)[]> {
  const results: (ElementResult | undefined)[] = [];
  let before: ElementResult | undefined;
  for (const [index, each] of elements.entries()) {
    const outdatedElement = outdated[index];
    if (outdatedElement !== undefined) {
      results.push(undefined);
      before = outdatedElement.result;
      continue;
    }
    const waitingFor = waitingForTurn(clusterOf(each));
    const wait = await orderedWait(pass, each, before);
    const result = await applyResolved(
      pass,
      plan,
      wait === undefined
        ? { each, waitingFor }
        : { each, waitingFor: [...waitingFor, wait], waitsForElements: true },
    );
    results.push(result);
    if (!isUnreachable(result)) before = result;
  }
  return results;
}

/** What a missing element waits for; undefined: it may be created. */
async function orderedWait(
  pass: Pass,
  each: ResolvedElement,
  before: ElementResult | undefined,
): Promise<string | undefined> {
  if (before === undefined || each.kind !== 'rendered') return undefined;
  if (cachedObject(pass, each.intent) !== undefined || (await isReadyNow(pass, before)))
    return undefined;
  return before.name === ''
    ? 'the previous element to be ready'
    : `${objectText(before.plan.gvk.kind, before.name, before.plan)} to be ready`;
}

/** An element whose object has an older intent. */
interface OutdatedElement {
  readonly desired: DesiredElement;
  readonly live: StoredObject;
  /** Without changes. */
  readonly result: ElementResult;
}

interface RollingState {
  /** By index; undefined: handled. */
  readonly outdated: readonly (OutdatedElement | undefined)[];
  readonly results: readonly (ElementResult | undefined)[];
}

/** The element with an outdated object. Undefined: there is no object, only another manager changed it, or it is not a child. */
function outdatedElement(
  pass: Pass,
  plan: ChildPlan,
  { element, intent }: { readonly element: Element; readonly intent: Intent },
): OutdatedElement | undefined {
  const { gvk, cluster } = intent.ref;
  const isUsable = memberProblem(pass, gvk, cluster) === undefined;
  const live = isUsable ? cachedObject(pass, intent) : undefined;
  if (live === undefined || isTerminating(live.object) || !isOwn(pass, live)) return undefined;
  const desired = asAdopted({ plan, element, intent, waitingFor: [] }, live, true);
  if (!hasOldIntent(pass, desired, live)) return undefined;
  return { desired, live, result: appliedResult(desired, { kind: 'unchanged' }, live) };
}

function hasOldIntent(pass: Pass, desired: DesiredElement, live: StoredObject): boolean {
  const { plan, intent } = desired;
  if (intentHashOf(live.object) !== undefined) return hasNewIntent(pass, desired, live);
  if (compareIntent(pass, { plan, intent, live }).kind === 'same') return false;
  return !isAppliedLast(pass, intent);
}

/**
 * Updates outdated elements in order while enough elements are ready (`rollingUpdate`): an element that does not become ready blocks the
 * next ones. An unready element can be updated at once, so that a corrected template reaches it first.
 */
async function applyRollingUpdate(
  pass: Pass,
  plan: ChildPlan,
  { outdated, results }: RollingState,
): Promise<readonly ElementResult[]> {
  const { rollingUpdate } = plan.updateStrategy;
  const done = [...results];
  if (rollingUpdate === undefined || outdated.every((each) => each === undefined)) {
    return present(done);
  }
  const atMost = maxUnavailableOf(rollingUpdate, outdated.length);
  const unready = new Map<number, ElementResult>();
  for (const [index, each] of outdated.entries()) {
    const result = done[index] ?? each?.result;
    if (result === undefined || isUnreachable(result)) continue;
    if (!(await isReadyNow(pass, result))) unready.set(index, result);
  }
  const old = new Set(outdated.flatMap((each, index) => (each === undefined ? [] : [index])));
  for (const index of orderOf(rollingUpdate, outdated)) {
    const each = outdated[index];
    if (each === undefined) continue;
    if (index < rollingUpdate.partition) {
      done[index] = await keptByPartition(pass, each);
      continue;
    }
    const inFlight = [...unready].filter(([at]) => !old.has(at));
    const mayGo = inFlight.length < atMost && (unready.has(index) || unready.size < atMost);
    if (!mayGo) {
      const [blocker] = inFlight.length < atMost ? [...unready] : inFlight;
      done[index] = await waitingFor(pass, each, blocker?.[1]);
      continue;
    }
    const { element, intent } = each.desired;
    const result = await applyResolved(pass, plan, {
      each: { kind: 'rendered', element, intent },
      waitingFor: [],
    });
    done[index] = result;
    old.delete(index);
    if (await isReadyNow(pass, result)) unready.delete(index);
    else unready.set(index, result);
  }
  return present(done);
}

/** Does the element exist, as desired and ready? */
async function isReadyNow(pass: Pass, result: ElementResult): Promise<boolean> {
  const { state } = await readinessOfElement(pass.desiredPhase, result);
  return state === 'Ready';
}

/** A percentage is rounded up, so that the update always proceeds. */
function maxUnavailableOf({ maxUnavailable }: RollingUpdate, elements: number): number {
  if (typeof maxUnavailable === 'number') return maxUnavailable;
  return Math.max(1, Math.ceil((Number.parseInt(maxUnavailable, 10) * elements) / 100));
}

function orderOf({ order }: RollingUpdate, elements: readonly unknown[]): readonly number[] {
  const indexes = [...elements.keys()];
  return order === 'Descending' ? indexes.reverse() : indexes;
}

/** Keeps an element below the partition; drift from its known intent is reverted. */
async function keptByPartition(
  pass: Pass,
  { desired, live, result }: OutdatedElement,
): Promise<ElementResult> {
  const repaired = await repairApplied(pass, desired.plan, live);
  return {
    ...result,
    ...repaired,
    element: result.element,
    notice: 'Not updated: its index is below the partition',
  };
}

function waitingFor(
  pass: Pass,
  { desired, live }: OutdatedElement,
  blocker: ElementResult | undefined,
): Promise<ElementResult> {
  const what =
    blocker === undefined
      ? 'another element'
      : objectText(blocker.plan.gvk.kind, blocker.name, blocker.plan);
  const problem: Problem = {
    reason: 'Waiting',
    message: `Rolling update in progress: waiting for ${what} to be ready`,
    code: 'waiting',
    kind: 'waiting',
    waitingFor: [`${what} to be ready`],
    isPartial: true,
  };
  return repairWaiting(pass, problemResult(desired, problem, live));
}

function present(results: readonly (ElementResult | undefined)[]): readonly ElementResult[] {
  return results.filter((result) => result !== undefined);
}
