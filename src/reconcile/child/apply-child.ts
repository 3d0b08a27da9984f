import type { ChildPlan, Element } from '../../compile/index.ts';
import type { RollingUpdate } from '../../definition/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import type { Problem } from '../failure.ts';
import type { Intent } from '../intent/intent.ts';
import { intentHashOf } from '../intent/marks.ts';
import { isTerminating } from '../owner.ts';
import { allEnded, type ChildResult, type ElementResult, type Pass } from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import { asAdopted } from './adopt.ts';
import { applyResolved, isMine, lookUp } from './apply-element.ts';
import { compareIntent, hasNewIntent, isAppliedLast } from './compare-intent.ts';
import { hinderedElement, settledElement, type WantedElement } from './element-result.ts';
import { keepApplied, keepElements, repairApplied } from './keep-applied.ts';
import { heldBy, readinessOfElement } from './readiness.ts';
import type { ResolvedChild, ResolvedElement } from './resolve-child.ts';

/** Makes a child as it was resolved, all its elements at once unless it says otherwise. */
export async function applyChild(pass: Pass, resolved: ResolvedChild): Promise<ChildResult> {
  const { plan, isWanted, elements } = resolved;
  if (!isWanted) return { plan, resolution: 'unwanted', elements: [] };
  const held = await heldBy(pass, plan);
  const results = isInTurn(plan)
    ? await applyInTurn(pass, resolved, held)
    : await allEnded(elements.map((each) => applyResolved(pass, plan, { each, held })));
  if (elements.every(({ kind }) => kind === 'rendered')) {
    return { plan, resolution: 'wanted', elements: results };
  }
  const waits = results.some(({ problem }) => problem?.reason === 'Waiting');
  const failed = plan.isList && waits ? await keepElements(pass, plan) : [];
  return { plan, resolution: 'unknown', elements: [...results, ...failed] };
}

/** Do the elements of this child have an order? */
export function isInTurn({ isList, ordered, updateStrategy }: ChildPlan): boolean {
  return isList && (ordered || updateStrategy.rollingUpdate !== undefined);
}

/**
 * Makes the elements of a child in the order that it asks for: new ones one after the other (`ordered`), those of an older intent a few at
 * a time (`rollingUpdate`). What is to be mended is mended at once.
 * @param held What has to be ready before any of them; then nothing has a turn.
 */
async function applyInTurn(
  pass: Pass,
  { plan, elements }: ResolvedChild,
  held: readonly string[],
): Promise<readonly ElementResult[]> {
  const isRolling = plan.updateStrategy.rollingUpdate !== undefined && held.length === 0;
  const outdated = elements.map((each) =>
    isRolling && each.kind === 'rendered' ? outdatedElement(pass, plan, each) : undefined,
  );
  const results = plan.ordered
    ? await applyOrdered(pass, plan, { elements, outdated, held })
    : await allEnded(
        elements.map(async (each, index) =>
          outdated[index] === undefined ? applyResolved(pass, plan, { each, held }) : undefined,
        ),
      );
  return rollOut(pass, plan, { outdated, results });
}

interface Ordered {
  readonly elements: readonly ResolvedElement[];
  readonly outdated: readonly (OutdatedElement | undefined)[];
  readonly held: readonly string[];
}

/** An element is made when the one before it is ready. */
async function applyOrdered(
  pass: Pass,
  plan: ChildPlan,
  { elements, outdated, held }: Ordered,
): Promise<readonly (ElementResult | undefined)[]> {
  const results: (ElementResult | undefined)[] = [];
  let before: ElementResult | undefined;
  for (const [index, each] of elements.entries()) {
    const old = outdated[index];
    if (old !== undefined) {
      results.push(undefined);
      before = old.result;
      continue;
    }
    const turn = await turnOf(pass, each, before);
    const result = await applyResolved(
      pass,
      plan,
      turn === undefined ? { each, held } : { each, held: [...held, turn], isInTurn: true },
    );
    results.push(result);
    before = result;
  }
  return results;
}

/** What an element that is not there yet waits for; undefined: it is its turn. */
async function turnOf(
  pass: Pass,
  each: ResolvedElement,
  before: ElementResult | undefined,
): Promise<string | undefined> {
  if (before === undefined || each.kind !== 'rendered') return undefined;
  if (lookUp(pass, each.intent) !== undefined || (await isReadyNow(pass, before))) return undefined;
  return before.name === ''
    ? 'the element before it to be ready'
    : `${objectText(before.plan.gvk.kind, before.name, before.plan)} to be ready`;
}

/** An element whose object is of an older intent. */
interface OutdatedElement {
  readonly wanted: WantedElement;
  readonly live: StoredObject;
  /** As it is. */
  readonly result: ElementResult;
}

interface RollOut {
  /** By index; undefined: it has been dealt with. */
  readonly outdated: readonly (OutdatedElement | undefined)[];
  readonly results: readonly (ElementResult | undefined)[];
}

/** Is the object of an element one of an older intent? Undefined: there is none, or what differs is what somebody changed, or it is not ours to change. */
function outdatedElement(
  pass: Pass,
  plan: ChildPlan,
  { element, intent }: { readonly element: Element; readonly intent: Intent },
): OutdatedElement | undefined {
  const live = lookUp(pass, intent);
  if (live === undefined || isTerminating(live.object) || !isMine(pass, live)) return undefined;
  const wanted = asAdopted({ plan, element, intent, held: [] }, live, true);
  if (!isOld(pass, wanted, live)) return undefined;
  return { wanted, live, result: settledElement(wanted, { kind: 'unchanged' }, live) };
}

function isOld(pass: Pass, wanted: WantedElement, live: StoredObject): boolean {
  const { plan, intent } = wanted;
  if (intentHashOf(live.object) !== undefined) return hasNewIntent(pass, wanted, live);
  if (compareIntent(pass, { plan, intent, live }).kind === 'same') return false;
  return !isAppliedLast(pass, intent);
}

/**
 * Brings outdated elements up to date, in order, as long as those that are ready stay so many (`rollingUpdate`): one that does not become
 * ready stops it. An element that is not ready anyway loses nothing, so that a mended template reaches it first.
 */
async function rollOut(
  pass: Pass,
  plan: ChildPlan,
  { outdated, results }: RollOut,
): Promise<readonly ElementResult[]> {
  const { rollingUpdate } = plan.updateStrategy;
  const done = [...results];
  if (rollingUpdate === undefined || outdated.every((each) => each === undefined)) {
    return present(done);
  }
  const atMost = mostUnavailable(rollingUpdate, outdated.length);
  const unready = new Map<number, ElementResult>();
  for (const [index, each] of outdated.entries()) {
    const result = done[index] ?? each?.result;
    if (result !== undefined && !(await isReadyNow(pass, result))) unready.set(index, result);
  }
  const old = new Set(outdated.flatMap((each, index) => (each === undefined ? [] : [index])));
  for (const index of orderOf(rollingUpdate, outdated)) {
    const each = outdated[index];
    if (each === undefined) continue;
    if (index < rollingUpdate.partition) {
      done[index] = await keptBack(pass, each);
      continue;
    }
    const inFlight = [...unready].filter(([at]) => !old.has(at));
    const mayGo = inFlight.length < atMost && (unready.has(index) || unready.size < atMost);
    if (!mayGo) {
      const [blocker] = inFlight.length < atMost ? [...unready] : inFlight;
      done[index] = await waitingFor(pass, each, blocker?.[1]);
      continue;
    }
    const { element, intent } = each.wanted;
    const result = await applyResolved(pass, plan, {
      each: { kind: 'rendered', element, intent },
      held: [],
    });
    done[index] = result;
    old.delete(index);
    if (await isReadyNow(pass, result)) unready.delete(index);
    else unready.set(index, result);
  }
  return present(done);
}

/** Is the element there, as wanted and ready? */
async function isReadyNow(pass: Pass, result: ElementResult): Promise<boolean> {
  const { state } = await readinessOfElement(pass.wanting, result);
  return state === 'Ready';
}

/** A part is rounded up, so that it always goes on. */
function mostUnavailable({ maxUnavailable }: RollingUpdate, elements: number): number {
  if (typeof maxUnavailable === 'number') return maxUnavailable;
  return Math.max(1, Math.ceil((Number.parseInt(maxUnavailable, 10) * elements) / 100));
}

function orderOf({ order }: RollingUpdate, elements: readonly unknown[]): readonly number[] {
  const indexes = [...elements.keys()];
  return order === 'Descending' ? indexes.reverse() : indexes;
}

/** It keeps what it has; what somebody changed of that is put back, where it is known. */
async function keptBack(
  pass: Pass,
  { wanted, live, result }: OutdatedElement,
): Promise<ElementResult> {
  const repaired = await repairApplied(pass, wanted.plan, live);
  return {
    ...result,
    ...repaired,
    element: result.element,
    note: 'Keeps what it has: its index is below the partition',
  };
}

function waitingFor(
  pass: Pass,
  { wanted, live }: OutdatedElement,
  blocker: ElementResult | undefined,
): Promise<ElementResult> {
  const what =
    blocker === undefined
      ? 'others'
      : objectText(blocker.plan.gvk.kind, blocker.name, blocker.plan);
  const problem: Problem = {
    reason: 'Waiting',
    message: `Waiting for its turn in the rolling update: ${what} is not ready`,
    code: 'waiting',
    kind: 'waiting',
    on: [`${what} to be ready`],
    isPartial: true,
  };
  return keepApplied(pass, hinderedElement(wanted, problem, live));
}

function present(results: readonly (ElementResult | undefined)[]): readonly ElementResult[] {
  return results.filter((result) => result !== undefined);
}
