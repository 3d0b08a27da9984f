import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { type Gvk, gvkOf } from '../../util/gvk.ts';
import { problemOfRequest } from '../failure.ts';
import { childLabel } from '../names.ts';
import { identityOf, topicOf } from '../wake/child-watch.ts';
import { allEnded } from './all-ended.ts';
import { isOurs, isTerminating } from './ownership.ts';
import {
  type ChildResult,
  type ElementResult,
  type Pass,
  type PrunedObject,
  worldWrite,
} from './pass.ts';
import { knownDeletionRefusal, noteDeletionRefusal } from './refusals.ts';

/**
 * Deletes what is ours and not wanted, child by child (definition.md section 4): a child that waits or fails keeps what it has,
 * and keeps no other from losing its own. What no child of the definition asks for any more goes only after a whole success.
 */
export async function prune(pass: Pass): Promise<void> {
  const isWholeSuccess = isWhole(pass);
  // By UID: an informer of another version may hold the same object.
  const leaving = new Map<string | undefined, StoredObject>();
  for (const watch of pass.context.watches.allChildren()) {
    if (watch.informer.state.kind !== 'synced') continue;
    for (const stored of watch.labelledWith(pass.uid)) {
      if (isToGo(pass, stored, isWholeSuccess)) leaving.set(stored.object.metadata.uid, stored);
    }
  }
  pass.pruned.push(
    ...(await allEnded([...leaving.values()].map((stored) => remove(pass, stored)))),
  );
}

function isWhole({ children, context, reads }: Pass): boolean {
  const readsAreFine = [...reads.values()].every(({ problem }) => problem === undefined);
  return readsAreFine && context.plan.children.every(({ id }) => isSettled(children.get(id)));
}

/** Are `when`, `forEach` and all elements as wanted, so that what is not among them is not wanted? */
function isSettled(result: ChildResult | undefined): boolean {
  const isSettledElement = ({ problem }: ElementResult) =>
    problem === undefined || problem.isPartial === true;
  return result?.elements.every(isSettledElement) ?? false;
}

function isToGo(pass: Pass, stored: StoredObject, isWholeSuccess: boolean): boolean {
  const { context, uid, claims, children } = pass;
  if (!isOurs(stored, { definition: context.plan.name, ownerUid: uid })) return false;
  const { object } = stored;
  const { namespace, name, labels } = object.metadata;
  // Nothing of ours is anywhere else: what is there and looks like ours is a copy.
  if (namespace !== undefined && namespace !== pass.namespace) return false;
  const gvk = gvkOf(object.apiVersion, object.kind);
  if (claims.has(identityOf(gvk, namespace, name))) return false;
  const result = children.get(labels?.[childLabel] ?? '');
  // A child that changed its kind has dropped the objects of the old one.
  const isDropped = result === undefined || !isSameKind(result.plan.gvk, gvk);
  return isDropped ? isWholeSuccess : isSettled(result);
}

/** The same in whatever version. */
function isSameKind(a: Gvk, b: Gvk): boolean {
  return a.group === b.group && a.kind === b.kind;
}

/** Deletes one object, by its UID. What the server refuses is the result, too. */
export async function remove(pass: Pass, { object }: StoredObject): Promise<PrunedObject> {
  const { namespace, name, uid = '' } = object.metadata;
  const childId = object.metadata.labels?.[childLabel] ?? '';
  if (isTerminating(object)) return { childId, object, state: 'deleting' };
  const refused = knownDeletionRefusal(pass, uid);
  if (refused !== undefined) return { childId, object, state: 'failed', problem: refused };
  const ref = {
    gvk: gvkOf(object.apiVersion, object.kind),
    name,
    ...(namespace === undefined ? {} : { namespace }),
  };
  try {
    const answer = await pass.context.cluster.delete(
      ref,
      { ...worldWrite(pass), uid },
      pass.signal,
    );
    pass.world.hasWritten = true;
    pass.state.serverMade.delete(topicOf(ref.gvk, namespace, name));
    pass.state.appliedIntents.delete(topicOf(ref.gvk, namespace, name));
    return { childId, object, state: answer === 'deleting' ? 'deleting' : 'gone' };
  } catch (error) {
    if (!(error instanceof KubeError) || pass.signal.aborted) throw error;
    // Another object has its name by now: what was to go is gone.
    if (error.code === 'uid-mismatch') return { childId, object, state: 'gone' };
    const problem = problemOfRequest(error, { secret: object.kind === 'Secret' });
    noteDeletionRefusal(pass, uid, problem);
    return { childId, object, state: 'failed', problem };
  }
}
