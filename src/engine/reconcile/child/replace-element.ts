import type { KubeError, StoredObject } from '#kube/roles.ts';
import { hubLabel, ownerUidLabel } from '#util/stored-names.ts';
import { type Problem, problemOfWaiting } from '../failure.ts';
import { tryRecreate } from '../ledger/recreations.ts';
import { isOfAnotherHub } from '../ownership/is-child.ts';
import { isLabelledBy, ownerText } from '../ownership-claims.ts';
import {
  clusterWrite,
  countApply,
  type ElementResult,
  type Pass,
  requestError,
} from '../pass/pass.ts';
import {
  type DeletePermission,
  deletePermission,
  recreationBlocker,
} from '../removal/removal-rules.ts';
import { objectText } from '../secrecy.ts';
import { mayAdopt } from './adopt.ts';
import { hashOfIntent, hasNewIntent } from './compare-intent.ts';
import { type DesiredElement, problemResult } from './element-result.ts';
import { failedElement } from './send-intent.ts';

/** The result for an object that is being deleted: it is recreated once it is deleted. */
export function deletingResult(
  pass: Pass,
  desired: DesiredElement,
  live: StoredObject,
): ElementResult {
  watch(pass, desired, live);
  const what = objectText(live.object.kind, live.object.metadata.name, desired.plan);
  const problem = problemOfWaiting([`the deletion of ${what}`], `${what} is being deleted`);
  return problemResult(desired, problem);
}

/** The result for an object of another owner: it is not changed, and its deletion enqueues the resource. */
export function conflictResult(
  pass: Pass,
  desired: DesiredElement,
  live: StoredObject,
): ElementResult {
  const { context } = pass;
  countApply(pass, 'conflict');
  const isWatched = watch(pass, desired, live);
  const maybeLater =
    desired.plan.adopt === 'IfUnowned' && isLabelledBy(live.object, context.plan.name);
  const isUnrecorded = live.object.metadata.labels?.[ownerUidLabel] === pass.uid;
  const owner = isUnrecorded ? 'no manager' : ownerIn(pass, live);
  const { cluster } = live;
  const where = cluster === undefined ? '' : ` in cluster "${cluster}"`;
  const what = `${objectText(live.object.kind, live.object.metadata.name, desired.plan)}${where}`;
  const isAdoptable = mayAdopt(pass, { ...desired.plan, adopt: 'IfUnowned' }, live);
  const ownership = owner === 'no manager' ? 'has no owner' : `is owned by ${owner}`;
  const remedy = isAdoptable ? 'set "adopt: IfUnowned", or rename the child' : 'rename the child';
  const problem: Problem = {
    reason: 'Conflict',
    message: isUnrecorded
      ? `${what} already exists: it has the labels of this child, but is not in the inventory; delete it or remove its "homeostat.dev" labels`
      : `${what} already exists and ${ownership}; ${remedy}`,
    code: 'conflict',
    // Without a watch, retried after `retry.permanent`; so is an object that may be adopted once its own resource is deleted.
    kind: isWatched && !maybeLater ? 'waiting' : 'permanent',
    owner,
  };
  return problemResult(desired, problem);
}

function ownerIn(pass: Pass, live: StoredObject): string {
  const { object } = live;
  const hasHub = object.metadata.labels?.[hubLabel] !== undefined;
  return hasHub && isOfAnotherHub(pass, live) ? 'another hub' : ownerText(object);
}

/** Watches a child that has lost the label that its informer selects by. */
export function watchUnlabelled(pass: Pass, desired: DesiredElement, live: StoredObject): void {
  if (live.object.metadata.labels?.[ownerUidLabel] === undefined) watch(pass, desired, live);
}

/** Enqueues the resource on every event of the object. False: too many such objects are watched. */
function watch(pass: Pass, { intent }: DesiredElement, { object }: StoredObject): boolean {
  pass.dependencies.desiredChild(intent.ref);
  // With this label the watch on children has it; otherwise it needs a watch by name.
  if (object.metadata.labels?.[ownerUidLabel] !== undefined) return true;
  const watched = pass.dependencies.conflict(intent.ref);
  // The watch of another resource may have observed its deletion already: no further event comes.
  const isDeleted = watched?.stored?.object.metadata.uid !== object.metadata.uid;
  if (watched?.state.kind === 'synced' && isDeleted) pass.again('name-free');
  return watched !== undefined;
}

/** Does the child have an older intent, so that it must be recreated (`updateStrategy: Recreate`)? */
export function isOutdated(pass: Pass, desired: DesiredElement, live: StoredObject): boolean {
  return desired.plan.updateStrategy.type === 'Recreate' && hasNewIntent(pass, desired, live);
}

/** May a child be recreated because of an immutable field? */
export function mayReplaceImmutable(
  pass: Pass,
  { plan, intent }: DesiredElement,
  { error, live }: { readonly error: KubeError; readonly live: StoredObject },
): boolean {
  const { type } = plan.updateStrategy;
  const isAllowed = type === 'Recreate' || type === 'RecreateIfImmutable';
  if (!isAllowed || error.immutableFields.length === 0) return false;
  return tryRecreate(pass, { intent, intentHash: hashOfIntent(pass, intent), live });
}

/** The result for an object whose deletion its child does not allow now (`deleteWhen`). */
function heldResult(
  desired: DesiredElement,
  live: StoredObject,
  leave: Exclude<DeletePermission, { kind: 'granted' }>,
): ElementResult {
  if (leave.kind === 'failed') return problemResult(desired, leave.problem, live);
  const { kind, metadata } = live.object;
  const on = `permission to replace ${objectText(kind, metadata.name, desired.plan)}`;
  const problem = problemOfWaiting([on], `Replacement on hold: ${leave.message}`);
  return problemResult(desired, problem, live);
}

/** The result for an object that holds data, which a changed definition would recreate. */
function unapprovedResult(
  desired: DesiredElement,
  live: StoredObject,
  reason: string,
): ElementResult {
  const { kind, metadata } = live.object;
  const on = `the approval to replace ${objectText(kind, metadata.name, desired.plan)}`;
  const waiting = problemOfWaiting([on], `Replacement on hold: ${reason}`);
  return problemResult(desired, { ...waiting, reason: 'DeletionsHeld' }, live);
}

/** Deletes an object to recreate it. Undefined: it is deleted. */
export async function removeOutdated(
  pass: Pass,
  desired: DesiredElement,
  live: StoredObject,
): Promise<ElementResult | undefined> {
  const { intent, plan } = desired;
  const { uid = '' } = live.object.metadata;
  const reason = recreationBlocker(pass, live);
  if (reason !== undefined) return unapprovedResult(desired, live, reason);
  const leave = await deletePermission(pass, live);
  if (leave.kind !== 'granted') return heldResult(desired, live, leave);
  try {
    const answer = await pass.context.cluster.delete(
      intent.ref,
      { ...clusterWrite(pass), uid, propagation: plan.updateStrategy.cascade ?? 'Background' },
      pass.signal,
    );
    pass.effects.hasWritten = true;
    pass.state.responses.serverDefaults.delete(intent.identity);
    // Expressions keep its values until the new object exists: a password is carried over.
    pass.state.replaced.set(intent.identity, { childId: plan.id, stored: live });
    return answer === 'deleting' ? deletingResult(pass, desired, live) : undefined;
  } catch (thrown) {
    const error = requestError(thrown, pass);
    // Another object has the name: the outdated one is deleted.
    if (error.code === 'uid-mismatch') return undefined;
    return failedElement(pass, desired, error, live);
  }
}
