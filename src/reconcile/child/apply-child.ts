import type { ChildPlan, Element } from '../../compile/index.ts';
import type { RollingUpdate } from '../../definition/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { problemOfWaiting } from '../failure.ts';
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
import { isOwn } from '../removal/untracked-children.ts';
import { objectText } from '../secrecy.ts';
import { asAdopted } from './adopt.ts';
import { applyResolved, cachedObject } from './apply-element.ts';
import { differencesOf, hasNewIntent, isAppliedLast } from './compare-intent.ts';
import { appliedResult, type DesiredElement, problemResult } from './element-result.ts';
import { readinessOfElement, unreadyDependencies } from './readiness.ts';
import { repairApplied, repairElements, repairWaiting } from './repair-waiting.ts';
import type { ResolvedChild, ResolvedElement } from './resolve-child.ts';

/** Applies a resolved child: all elements at once, unless its plan demands a sequence. */
export async function applyChild(pass: Pass, resolved: ResolvedChild): Promise<ChildResult> {
  const { plan, isDesired, elements } = resolved;
  if (!isDesired) return { plan, resolution: 'omitted', elements: [] };
  const waitingFor = plan.after.length === 0 ? nothing : await waitingByCluster(pass, resolved);
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

const nothing: WaitingFor = () => [];

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
  return each.kind === 'rendered' ? each.intent.ref.gvk.cluster : each.cluster;
}

/** Is the element in a member that cannot be used now? Then no other element waits for it. */
function isUnreachable({ problem }: ElementResult): boolean {
  return problem?.reason === 'ClusterUnreachable';
}

/** Are the elements of this child applied in a sequence? */
function isSequential({ isList, ordered, updateStrategy }: ChildPlan): boolean {
  return isList && (ordered || updateStrategy.rollingUpdate !== undefined);
}

/** An element that is applied in a sequence. */
interface Slot {
  readonly each: ResolvedElement;
  /** Set: its object has an older intent. */
  readonly outdated: OutdatedElement | undefined;
  /** Undefined: it is not handled yet. */
  result: ElementResult | undefined;
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
  const slots = elements.map((each): Slot => {
    const mayBeOutdated =
      isRolling && each.kind === 'rendered' && waitingFor(clusterOf(each)).length === 0;
    const outdated = mayBeOutdated ? outdatedElement(pass, plan, each) : undefined;
    return { each, outdated, result: undefined };
  });
  if (plan.ordered) await applyOrdered(pass, plan, { slots, waitingForTurn: waitingFor });
  else
    await allSettledOrThrow(
      slots.map(async (slot) => {
        const { each, outdated } = slot;
        if (outdated !== undefined) return;
        const options = { each, waitingFor: waitingFor(clusterOf(each)) };
        slot.result = await applyResolved(pass, plan, options);
      }),
    );
  await applyRollingUpdate(pass, plan, slots);
  return slots.flatMap(({ result }) => result ?? []);
}

/** Creates an element once the previous one is ready. */
async function applyOrdered(
  pass: Pass,
  plan: ChildPlan,
  {
    slots,
    waitingForTurn,
  }: { readonly slots: readonly Slot[]; readonly waitingForTurn: WaitingFor },
): Promise<void> {
  let before: ElementResult | undefined;
  for (const slot of slots) {
    const { each, outdated } = slot;
    if (outdated !== undefined) {
      before = outdated.result;
      continue;
    }
    const waitingFor = waitingForTurn(clusterOf(each));
    const wait = await orderedWait(pass, each, before);
    slot.result = await applyResolved(
      pass,
      plan,
      wait === undefined
        ? { each, waitingFor }
        : { each, waitingFor: [...waitingFor, wait], waitsForElements: true },
    );
    if (!isUnreachable(slot.result)) before = slot.result;
  }
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

/** The element with an outdated object. Undefined: there is no object, only another manager changed it, or it is not a child. */
function outdatedElement(
  pass: Pass,
  plan: ChildPlan,
  { element, intent }: { readonly element: Element; readonly intent: Intent },
): OutdatedElement | undefined {
  const isUsable = memberProblem(pass, intent.ref.gvk) === undefined;
  const live = isUsable ? cachedObject(pass, intent) : undefined;
  if (live === undefined || isTerminating(live.object) || !isOwn(pass, live)) return undefined;
  const desired = asAdopted(pass, { plan, element, intent, waitingFor: [] }, live);
  if (!hasOldIntent(pass, desired, live)) return undefined;
  return { desired, live, result: appliedResult(desired, live) };
}

function hasOldIntent(pass: Pass, desired: DesiredElement, live: StoredObject): boolean {
  if (intentHashOf(live.object) !== undefined) return hasNewIntent(pass, desired, live);
  return differencesOf(pass, desired, live) !== undefined && !isAppliedLast(pass, desired.intent);
}

/**
 * Updates outdated elements in order while enough elements are ready (`rollingUpdate`): an element that does not become ready blocks the
 * next ones. An unready element can be updated at once, so that a corrected template reaches it first.
 */
async function applyRollingUpdate(
  pass: Pass,
  plan: ChildPlan,
  slots: readonly Slot[],
): Promise<void> {
  const { rollingUpdate } = plan.updateStrategy;
  const old = new Set(slots.flatMap(({ outdated }, index) => (outdated ? [index] : [])));
  if (rollingUpdate === undefined || old.size === 0) return;
  const atMost = maxUnavailableOf(rollingUpdate, slots.length);
  const unready = new Map<number, ElementResult>();
  for (const [index, { outdated, result = outdated?.result }] of slots.entries()) {
    if (result === undefined || isUnreachable(result)) continue;
    if (!(await isReadyNow(pass, result))) unready.set(index, result);
  }
  for (const index of orderOf(rollingUpdate, slots)) {
    const slot = slots[index];
    if (slot?.outdated === undefined) continue;
    const { outdated } = slot;
    if (index < rollingUpdate.partition) {
      slot.result = await keptByPartition(pass, outdated);
      continue;
    }
    const inFlight = [...unready].filter(([at]) => !old.has(at));
    const mayGo = inFlight.length < atMost && (unready.has(index) || unready.size < atMost);
    if (!mayGo) {
      const [blocker] = inFlight.length < atMost ? [...unready] : inFlight;
      slot.result = await waitingFor(pass, outdated, blocker?.[1]);
      continue;
    }
    slot.result = await applyResolved(pass, plan, { each: slot.each, waitingFor: [] });
    old.delete(index);
    if (await isReadyNow(pass, slot.result)) unready.delete(index);
    else unready.set(index, slot.result);
  }
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
  const on = `${what} to be ready`;
  const waiting = problemOfWaiting([on], `Rolling update in progress: waiting for ${on}`);
  return repairWaiting(pass, problemResult(desired, { ...waiting, isPartial: true }, live));
}
