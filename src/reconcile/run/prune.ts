import type { ObjectRef, StoredObject } from '../../kube/roles.ts';
import { isSameKind } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { deferralReason } from '../child/deferral.ts';
import { type Problem, problemOfWaiting } from '../failure.ts';
import {
  childIdOf,
  identityOfObject,
  identityOfRef,
  inFixedOrder,
  refOfStored,
} from '../identity.ts';
import { isChild } from '../ownership/is-child.ts';
import { checkInventory } from '../ownership/maintain-inventory.ts';
import { isTerminating } from '../ownership-claims.ts';
import type { ChildResult, ElementResult, Pass, PrunedObject } from '../pass/pass.ts';
import type { UntrackedChild } from '../pass/resource-state.ts';
import { forgetFinished } from '../removal/finished-children.ts';
import {
  holdsData,
  isOrphaned,
  isPrunedAfterReady,
  pruneCandidatesOf,
} from '../removal/removal-rules.ts';
import { removeObjects } from '../removal/remove-objects.ts';
import { failedUntracked, findUntracked } from '../removal/untracked-children.ts';
import { saveFinished } from '../resource/write-metadata.ts';

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
  if (unwanted.length + untracked.objects.length > 0) {
    const leaving = new Map<string, StoredObject>();
    for (const each of [...unwanted, ...untracked.objects])
      leaving.set(identityOfObject(each.object), each);
    pass.effects.pruned.push(...(await remove(pass, inFixedOrder(leaving.values()))));
  }
  forgetFinished(pass, (each) => isUndesired(pass, each, certainty));
  await saveFinished(pass);
  const areRecordsHeld = await pruneRecords(pass);
  if (!areRecordsHeld) notifyConverged(pass, certainty);
}

/**
 * Deletes versions that are no longer kept, unless the guard holds them: settings may have changed.
 * @returns whether any remain
 */
async function pruneRecords(pass: Pass): Promise<boolean> {
  const { history, recorder, deletionGuard } = pass.context;
  const records = history?.removable(pass.uid) ?? [];
  if (records.length === 0) return false;
  const reason = deletionGuard?.blockingReason(pass.key, records);
  const problem =
    reason === undefined
      ? await recorder?.remove(records, pass.signal)
      : heldRecords(records.length, reason);
  if (problem !== undefined) pass.effects.historyProblem = problem;
  return problem !== undefined;
}

function heldRecords(count: number, reason: string): Problem {
  const what = count === 1 ? '1 version is' : `${count} versions are`;
  const message = `history: ${what} no longer kept; ${reason}`;
  return problemOfWaiting([message], message);
}

async function remove(
  pass: Pass,
  leaving: readonly StoredObject[],
): Promise<readonly PrunedObject[]> {
  const { deletionGuard } = pass.context;
  const reason = deletionGuard?.blockingReason(pass.key, pruneCandidatesOf(pass, leaving));
  if (reason === undefined) return removeDue(pass, leaving);
  return leaving.map(({ object }) => {
    const pruned = { childId: childIdOf(object), object };
    return isTerminating(object)
      ? { ...pruned, state: 'deleting', message: why }
      : { ...pruned, state: 'held', isGuarded: true, message: `${why}; ${reason}` };
  });
}

/** Removes all objects except those that are kept until all children are ready. */
async function removeDue(
  pass: Pass,
  leaving: readonly StoredObject[],
): Promise<readonly PrunedObject[]> {
  const deferrable = new Set(leaving.filter((stored) => mayBeDeferred(pass, stored)));
  const reason = deferrable.size === 0 ? undefined : await deferralReason(pass);
  if (reason === undefined) return removeObjects(pass, leaving, { why });
  const due = leaving.filter((stored) => !deferrable.has(stored));
  const deferred = [...deferrable].map(({ object }) => deferredObject(pass, object, reason));
  return [...deferred, ...(await removeObjects(pass, due, { why }))];
}

/** What is released stays anyway, and a deletion cannot be stopped. */
function mayBeDeferred(pass: Pass, { object }: StoredObject): boolean {
  return isPrunedAfterReady(pass, object) && !isTerminating(object) && !isOrphaned(pass, object);
}

function deferredObject(pass: Pass, object: KubeObject, reason: string): PrunedObject {
  const losesData = holdsData(pass.context.plan, object);
  const message = `${why}; kept until its successor is in use: waiting for ${reason}`;
  return { childId: childIdOf(object), object, state: 'held', deferred: { losesData }, message };
}

/** Notifies the guard once all desired objects exist and all others are deleted. */
function notifyConverged(
  { context, key, effects: { pruned } }: Pass,
  { includesDropped }: PruneScope,
): void {
  if (!includesDropped) return;
  const stays = pruned.some(({ state }) => state === 'held' || state === 'failed');
  if (!stays) context.deletionGuard?.onConverged(key);
}

function isComplete({ context, findings: { reads }, effects: { children } }: Pass): boolean {
  const readsAreFine = [...reads.values()].every(({ problem }) => problem === undefined);
  return readsAreFine && context.plan.children.every(({ id }) => isSettled(children.get(id)));
}

/**
 * Are `when`, `forEach` and all elements as desired? Then other objects of the child are not desired.
 * @param ref Of such an object: for one in a member cluster, elements in other members do not count.
 */
function isSettled(result: ChildResult | undefined, ref?: ObjectRef): boolean {
  const isSettledElement = (element: ElementResult) =>
    element.problem === undefined ||
    element.problem.isPartial === true ||
    (ref !== undefined && isElsewhere(element, ref));
  return result?.elements.every(isSettledElement) ?? false;
}

/** Is the element in another member, and not the same one that has moved there? A moved one is created first. */
function isElsewhere({ plan, cluster, name }: ElementResult, ref: ObjectRef): boolean {
  if (!plan.isList || cluster === undefined || ref.gvk.cluster === undefined) return false;
  const isSame = plan.isPlacedByItem !== true && (name === '' || name === ref.name);
  return cluster !== ref.gvk.cluster && !isSame;
}

/** Which objects can be known to be undesired. */
interface PruneScope {
  /** Are objects undesired that this child does not render? */
  readonly isSettled: (child: ChildResult, ref: ObjectRef) => boolean;
  /** Are objects included whose child is no longer in the definition? */
  readonly includesDropped: boolean;
}

/** The children of the resource that are known to be undesired. */
export function objectsToPrune(pass: Pass, certainty: PruneScope): readonly StoredObject[] {
  // By identity: informers of two versions may have the same object.
  const unwanted = new Map<string, StoredObject>();
  for (const watch of pass.context.watches.allChildren()) {
    const { informer } = watch;
    const { cluster } = watch.gvk;
    if (informer.state.kind !== 'synced') continue;
    if (cluster !== undefined && pass.members?.isUsable(cluster) !== true) continue;
    for (const stored of watch.labelledWith(pass.uid)) {
      const { object } = stored;
      const place = { ref: refOfStored(object), childId: childIdOf(object) };
      if (isChild(pass, stored) && isUndesired(pass, place, certainty))
        unwanted.set(identityOfObject(object), stored);
    }
  }
  return [...unwanted.values()];
}

/** Is it known that no child of the definition renders this object? */
function isUndesired(
  { findings: { desiredObjects }, effects: { children } }: Pass,
  { ref, childId }: Pick<UntrackedChild, 'ref' | 'childId'>,
  { isSettled, includesDropped }: PruneScope,
): boolean {
  if (desiredObjects.has(identityOfRef(ref))) return false;
  const result = children.get(childId);
  // A child that changed its kind drops the objects of the previous kind.
  const isDropped = result === undefined || !isSameKind(result.plan.gvk, ref.gvk);
  return isDropped ? includesDropped : isSettled(result, ref);
}
