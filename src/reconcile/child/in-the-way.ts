import type { StoredObject } from '../../kube/roles.ts';
import type { Problem } from '../failure.ts';
import { ownerUidLabel } from '../names.ts';
import { isLabelledBy, ownerText } from '../owner.ts';
import type { ElementResult, Pass } from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import { hinderedElement, type WantedElement } from './element-result.ts';

/** The object is being deleted: it is never applied, but made anew when it is gone. */
export function leavingResult(
  pass: Pass,
  wanted: WantedElement,
  live: StoredObject,
): ElementResult {
  watch(pass, wanted, live);
  const what = objectText(live.object.kind, live.object.metadata.name, wanted.plan);
  const problem: Problem = {
    reason: 'Waiting',
    message: `${what} is being deleted`,
    code: 'waiting',
    kind: 'waiting',
    on: [`the deletion of ${what}`],
  };
  return hinderedElement(wanted, problem);
}

/** Somebody else's object: nothing is touched, and the resource goes on by itself when it is gone. */
export function conflictResult(
  pass: Pass,
  wanted: WantedElement,
  live: StoredObject,
): ElementResult {
  const { context } = pass;
  context.metrics.applies.increment([context.plan.name, 'conflict']);
  const isWatched = watch(pass, wanted, live);
  const maybeLater =
    wanted.plan.adopt === 'IfUnowned' && isLabelledBy(live.object, context.plan.name);
  const isUnrecorded = live.object.metadata.labels?.[ownerUidLabel] === pass.uid;
  const owner = isUnrecorded ? 'nobody' : ownerText(live.object);
  const what = objectText(live.object.kind, live.object.metadata.name, wanted.plan);
  const problem: Problem = {
    reason: 'Conflict',
    message: isUnrecorded
      ? `${what} exists and is not ours: it carries our labels, but is not on record; delete it, or take them off`
      : `${what} exists and is not ours: it belongs to ${owner}`,
    code: 'conflict',
    // What is not watched is looked at again after `retry.permanent`; so is what may be taken over once its own resource is gone.
    kind: isWatched && !maybeLater ? 'waiting' : 'permanent',
    owner,
  };
  return hinderedElement(wanted, problem);
}

/** The same for an object of ours that has lost the label by which it is watched. */
export function watchOutsider(pass: Pass, wanted: WantedElement, live: StoredObject): void {
  if (live.object.metadata.labels?.[ownerUidLabel] === undefined) watch(pass, wanted, live);
}

/** Has whatever happens to the object wake the resource. False: too many such objects are watched already. */
function watch(pass: Pass, { intent }: WantedElement, { object }: StoredObject): boolean {
  pass.dependencies.wanted(intent.ref);
  // With this label the watch on the children sees it; else it takes one of its own.
  if (object.metadata.labels?.[ownerUidLabel] !== undefined) return true;
  const watched = pass.dependencies.conflict(intent.ref);
  // The watch of another resource may know by now that it is gone: nothing more will be told.
  const isGone = watched?.stored?.object.metadata.uid !== object.metadata.uid;
  if (watched?.state.kind === 'synced' && isGone) pass.context.follow(pass.key);
  return watched !== undefined;
}
