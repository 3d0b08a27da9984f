import type { RefAt, StoredObject } from '#kube/roles.ts';
import { deferralsOf } from '../child/deferral.ts';
import { isPacedWait } from '../child/surge.ts';
import {
  childIdOf,
  identityOfObject,
  identityOfRef,
  inFixedOrder,
  refOfStored,
} from '../identity.ts';
import { isChild, planOfChild } from '../ownership/is-child.ts';
import { checkInventory } from '../ownership/maintain-inventory.ts';
import { isTerminating } from '../ownership-claims.ts';
import { keptBecause, type Outdated, outdatedOf } from '../pass/feature.ts';
import { isReachable } from '../pass/other-clusters.ts';
import type { ChildResult, ElementResult, Pass, PrunedObject } from '../pass/pass.ts';
import type { UntrackedChild } from '../pass/resource-state.ts';
import { forgetFinished } from '../removal/finished-children.ts';
import { holdsData, isOrphaned, pruneCandidatesOf } from '../removal/removal-rules.ts';
import { removeObjects } from '../removal/remove-objects.ts';
import { failedUntracked, findUntracked } from '../removal/untracked-children.ts';
import { saveFinished } from '../resource/write-metadata.ts';
import { isElementElsewhere } from '../where.ts';

const why = 'No longer desired';

/**
 * Deletes the objects of the resource that are not desired, child by child (docs/definition/children.md#pruning). A child that waits or
 * fails keeps its objects and does not affect others. Objects of no child of the definition are deleted only if all children succeeded.
 */
export async function prune(pass: Pass): Promise<void> {
  const certainty = { isSettled, includesDropped: isComplete(pass) };
  checkInventory(pass);
  const untracked = await findUntracked(pass, (each) => isUndesired(pass, each, certainty));
  const unwanted = objectsToPrune(pass, certainty);
  pass.effects.pruned.push(...untracked.unknown.map(failedUntracked));
  const leaving = inOrder([...unwanted, ...untracked.objects]);
  const outdated = await outdatedOf(pass);
  const reason = blockingReason(pass, leaving, outdated);
  if (leaving.length > 0) pass.effects.pruned.push(...(await remove(pass, leaving, reason)));
  forgetFinished(pass, (each) => isUndesired(pass, each, certainty));
  await saveFinished(pass);
  await removeOutdated(pass, outdated, reason);
  notifyConverged(pass, certainty);
}

function inOrder(objects: readonly StoredObject[]): readonly StoredObject[] {
  if (objects.length === 0) return objects;
  const unique = new Map(objects.map((each) => [identityOfObject(each), each]));
  return inFixedOrder(unique.values());
}

/** Why all that is no longer desired is kept: features are asked once, with all of it. */
function blockingReason(
  pass: Pass,
  leaving: readonly StoredObject[],
  outdated: readonly Outdated[],
): string | undefined {
  if (pass.features.length === 0 || leaving.length + outdated.length === 0) return undefined;
  const ofFeatures = outdated.flatMap(({ candidates }) => candidates);
  return keptBecause(pass, [...pruneCandidatesOf(pass, leaving), ...ofFeatures]);
}

/** Deletes what features no longer keep: settings may have changed. */
async function removeOutdated(
  { signal, effects }: Pass,
  outdated: readonly Outdated[],
  reason: string | undefined,
): Promise<void> {
  for (const each of outdated) {
    const problem = reason === undefined ? await each.remove(signal) : each.kept(reason);
    if (problem !== undefined) effects.outdatedProblem ??= problem;
  }
}

async function remove(
  pass: Pass,
  leaving: readonly StoredObject[],
  reason: string | undefined,
): Promise<readonly PrunedObject[]> {
  if (reason === undefined) return removeDue(pass, leaving);
  return leaving.map(({ object, cluster }) => {
    const pruned = { childId: childIdOf(object), object, cluster };
    return isTerminating(object)
      ? { ...pruned, state: 'deleting', message: why }
      : { ...pruned, state: 'held', isGuarded: true, message: `${why}; ${reason}` };
  });
}

/** Removes all objects except those that are kept until others are ready. */
async function removeDue(
  pass: Pass,
  leaving: readonly StoredObject[],
): Promise<readonly PrunedObject[]> {
  // What is released stays anyway, and a deletion cannot be stopped.
  const deferrals = await deferralsOf(
    pass,
    leaving.filter((stored) => !isTerminating(stored.object) && !isOrphaned(pass, stored)),
  );
  const due = leaving.filter((stored) => !deferrals.has(stored));
  const deferred = [...deferrals].map((each) => deferredObject(pass, each));
  return [...deferred, ...(await removeObjects(pass, due, { why }))];
}

function deferredObject(
  pass: Pass,
  [stored, reason]: readonly [StoredObject, string],
): PrunedObject {
  const { object, cluster } = stored;
  const losesData = holdsData(pass.context.plan, stored);
  return {
    childId: childIdOf(object),
    object,
    cluster,
    state: 'held',
    deferred: { losesData },
    message: `${why}; ${reason}`,
  };
}

/** Notifies the features once all desired objects exist and all others are deleted. */
function notifyConverged(pass: Pass, { includesDropped }: PruneScope): void {
  const { pruned, outdatedProblem } = pass.effects;
  if (!includesDropped || outdatedProblem !== undefined) return;
  if (pruned.some(({ state }) => state === 'held' || state === 'failed')) return;
  for (const feature of pass.features) feature.converged?.(pass);
}

function isComplete({ context, findings: { reads }, effects: { children } }: Pass): boolean {
  const readsAreFine = [...reads.values()].every(({ problem }) => problem === undefined);
  return readsAreFine && context.plan.children.every(({ id }) => isSettled(children.get(id)));
}

/**
 * Are `when`, `forEach` and all elements as desired? Then other objects of the child are not desired.
 * @param ref Of such an object: for one in another cluster, elements in others do not count.
 */
function isSettled(result: ChildResult | undefined, ref?: RefAt): boolean {
  const isSettledElement = (element: ElementResult) =>
    element.problem === undefined ||
    element.problem.isPartial === true ||
    (ref !== undefined && isElementElsewhere(element, ref)) ||
    (ref !== undefined && result !== undefined && isPacedWait(result, element));
  return result?.elements.every(isSettledElement) ?? false;
}

/** Which objects can be known to be undesired. */
interface PruneScope {
  /** Are objects undesired that this child does not render? */
  readonly isSettled: (child: ChildResult, ref: RefAt) => boolean;
  /** Are objects included whose child is no longer in the definition? */
  readonly includesDropped: boolean;
}

/** The children of the resource that are known to be undesired. */
export function objectsToPrune(pass: Pass, certainty: PruneScope): readonly StoredObject[] {
  // By identity: informers of two versions may have the same object.
  const unwanted = new Map<string, StoredObject>();
  for (const watch of pass.context.watches.allChildren()) {
    const { informer } = watch;
    if (informer.state.kind !== 'synced' || !isReachable(pass, watch.gvk.cluster)) continue;
    for (const stored of watch.labelledWith(pass.uid)) {
      const { object } = stored;
      const place = { ref: refOfStored(stored), childId: childIdOf(object) };
      if (isChild(pass, stored) && isUndesired(pass, place, certainty))
        unwanted.set(identityOfObject(stored), stored);
    }
  }
  return [...unwanted.values()];
}

/** Is it known that no child of the definition renders this object? */
function isUndesired(
  { context, findings: { desiredObjects }, effects: { children } }: Pass,
  { ref, childId }: Pick<UntrackedChild, 'ref' | 'childId'>,
  { isSettled, includesDropped }: PruneScope,
): boolean {
  if (desiredObjects.has(identityOfRef(ref))) return false;
  const result = children.get(childId);
  // A child whose kind was edited drops the objects of the previous kind.
  const isDropped =
    result === undefined || planOfChild(context.plan, childId, ref.gvk) === undefined;
  return isDropped ? includesDropped : isSettled(result, ref);
}
