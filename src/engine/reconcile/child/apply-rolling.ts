import type { RollingUpdate } from '#definition';
import { problemOfWaiting } from '../failure.ts';
import type { ElementResult, Pass } from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import { isUnreachable } from './element-result.ts';
import { outdatedElement } from './outdated-element.ts';
import { isReadyNow } from './readiness.ts';
import type { ResolvedElement } from './resolve-child.ts';
import type { ElementApplier, Sequence } from './sequence.ts';

/** An element of a rolling update. */
interface Slot {
  readonly each: ResolvedElement;
  /** Without changes, if its object has an older intent. */
  readonly outdated: ElementResult | undefined;
  result: ElementResult;
}

/**
 * Updates outdated elements in order while enough elements are ready (`rollingUpdate`): an element that does not become ready blocks the
 * next ones. An unready element can be updated at once, so that a corrected template reaches it first. Drift is repaired at once.
 * @param base Applies the others.
 */
export function applyRolling(base: Sequence, update: RollingUpdate): Sequence {
  return async (pass, child, applier) => {
    const { plan, elements } = child;
    const outdated = new Map<ResolvedElement, ElementResult>();
    for (const each of elements) {
      if (each.kind !== 'rendered' || applier.isHeld(each)) continue;
      const found = outdatedElement(pass, plan, each);
      if (found !== undefined) outdated.set(each, found);
    }
    const results = await base(pass, child, {
      ...applier,
      apply: async (each, waitingFor) => outdated.get(each) ?? applier.apply(each, waitingFor),
    });
    const slots = elements.flatMap((each, index): Slot[] => {
      const result = results[index];
      return result === undefined ? [] : [{ each, outdated: outdated.get(each), result }];
    });
    await updateOutdated(pass, slots, { update, applier });
    return slots.map(({ result }) => result);
  };
}

async function updateOutdated(
  pass: Pass,
  slots: readonly Slot[],
  { update, applier }: { readonly update: RollingUpdate; readonly applier: ElementApplier },
): Promise<void> {
  const old = new Set(slots.flatMap(({ outdated }, index) => (outdated ? [index] : [])));
  if (old.size === 0) return;
  // With `maxSurge` it may be 0, of which objects that keep their names make one.
  const atMost = Math.max(1, shareOf(update.maxUnavailable, slots.length));
  const unready = new Map<number, ElementResult>();
  for (const [index, { result }] of slots.entries()) {
    if (!isUnreachable(result) && !(await isReadyNow(pass, result))) unready.set(index, result);
  }
  for (const index of orderOf(update, slots)) {
    const slot = slots[index];
    if (slot?.outdated === undefined) continue;
    const { each, outdated } = slot;
    if (index < update.partition) {
      slot.result = await applier.keep({ ...outdated, notice: belowPartition });
      continue;
    }
    const inFlight = [...unready].filter(([at]) => !old.has(at));
    const mayGo = inFlight.length < atMost && (unready.has(index) || unready.size < atMost);
    if (!mayGo) {
      const [blocker] = inFlight.length < atMost ? [...unready] : inFlight;
      const problem = problemOfBlocker(blocker?.[1]);
      slot.result = await applier.keep({ ...outdated, problem });
      continue;
    }
    slot.result = await applier.apply(each);
    old.delete(index);
    if (await isReadyNow(pass, slot.result)) unready.delete(index);
    else unready.set(index, slot.result);
  }
}

/** A number, or a percentage of the elements. It is rounded up, so that an update always proceeds. */
export function shareOf(value: number | string, elements: number): number {
  if (typeof value === 'number') return value;
  return Math.ceil((Number.parseInt(value, 10) * elements) / 100);
}

/** The notice of an element that keeps an earlier object. */
export const belowPartition = 'Not updated: its index is below the partition';

function orderOf({ order }: RollingUpdate, elements: readonly unknown[]): readonly number[] {
  const indexes = [...elements.keys()];
  return order === 'Descending' ? indexes.reverse() : indexes;
}

function problemOfBlocker(blocker: ElementResult | undefined) {
  const what =
    blocker === undefined
      ? 'another element'
      : objectText(blocker.plan.gvk.kind, blocker.name, blocker.plan);
  const on = `${what} to be ready`;
  const waiting = problemOfWaiting([on], `Rolling update in progress: waiting for ${on}`);
  return { ...waiting, isPartial: true };
}
