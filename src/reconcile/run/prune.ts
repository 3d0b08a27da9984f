import type { StoredObject } from '../../kube/roles.ts';
import type { Gvk } from '../../util/gvk.ts';
import { childIdOf, identityOf, refOfStored } from '../identity.ts';
import { isTerminating } from '../owner.ts';
import { isChild } from '../ownership/is-child.ts';
import { noteRecorded } from '../ownership/recorded-strays.ts';
import type { ChildResult, ElementResult, Pass, PrunedObject } from '../pass/pass.ts';
import type { Stray } from '../pass/resource-state.ts';
import { doomedOf } from '../removal/leaving.ts';
import { removeObjects } from '../removal/remove-objects.ts';
import { failedStray, findStrays } from '../removal/strays.ts';

const why = 'Not wanted';

/**
 * Deletes what is ours and not wanted, child by child (definition.md section 4): a child that waits or fails keeps what it has,
 * and keeps no other from losing its own. What no child of the definition asks for any more goes only after a whole success.
 */
export async function prune(pass: Pass): Promise<void> {
  const certainty = { isSettled, countsDropped: isWhole(pass) };
  noteRecorded(pass);
  const strays = await findStrays(pass, (each) => isUnwanted(pass, each, certainty));
  const unwanted = unwantedObjects(pass, certainty);
  pass.did.pruned.push(...strays.unknown.map(failedStray));
  if (unwanted.length + strays.objects.length > 0) {
    const leaving = new Map<string | undefined, StoredObject>();
    for (const each of [...unwanted, ...strays.objects])
      leaving.set(each.object.metadata.uid, each);
    pass.did.pruned.push(...(await remove(pass, [...leaving.values()])));
  }
  tellSettled(pass, certainty);
}

async function remove(
  pass: Pass,
  leaving: readonly StoredObject[],
): Promise<readonly PrunedObject[]> {
  const { guard } = pass.context;
  const reason = guard?.whyNot(pass.key, doomedOf(pass, leaving));
  if (reason === undefined) return removeObjects(pass, leaving, { why });
  return leaving.map(({ object }) => {
    const pruned = { childId: childIdOf(object), object };
    return isTerminating(object)
      ? { ...pruned, state: 'deleting', message: why }
      : { ...pruned, state: 'held', isGuarded: true, message: `${why}; ${reason}` };
  });
}

/** Has the resource got all that the definition wants of it, and lost the rest? */
function tellSettled({ context, key, did: { pruned } }: Pass, { countsDropped }: Certainty): void {
  if (!countsDropped) return;
  const stays = pruned.some(({ state }) => state === 'held' || state === 'failed');
  if (!stays) context.guard?.settled(key);
}

function isWhole({ context, found: { reads }, did: { children } }: Pass): boolean {
  const readsAreFine = [...reads.values()].every(({ problem }) => problem === undefined);
  return readsAreFine && context.plan.children.every(({ id }) => isSettled(children.get(id)));
}

/** Are `when`, `forEach` and all elements as wanted, so that what is not among them is not wanted? */
function isSettled(result: ChildResult | undefined): boolean {
  const isSettledElement = ({ problem }: ElementResult) =>
    problem === undefined || problem.isPartial === true;
  return result?.elements.every(isSettledElement) ?? false;
}

/** What must be known before an object counts as unwanted. */
interface Certainty {
  /** Is what this child does not claim not wanted? */
  readonly isSettled: (child: ChildResult) => boolean;
  /** Do objects of children that the definition does not have any more count? */
  readonly countsDropped: boolean;
}

/** The objects of ours, of this resource, that are not wanted; what nobody can tell of is not among them. */
export function unwantedObjects(pass: Pass, certainty: Certainty): readonly StoredObject[] {
  // By UID: an informer of another version may hold the same object.
  const unwanted = new Map<string | undefined, StoredObject>();
  for (const watch of pass.context.watches.allChildren()) {
    if (watch.informer.state.kind !== 'synced') continue;
    for (const stored of watch.labelledWith(pass.uid)) {
      if (isToGo(pass, stored, certainty)) unwanted.set(stored.object.metadata.uid, stored);
    }
  }
  return [...unwanted.values()];
}

function isToGo(pass: Pass, stored: StoredObject, certainty: Certainty): boolean {
  if (!isChild(pass, stored)) return false;
  const ref = refOfStored(stored.object);
  return isUnwanted(pass, { ref, childId: childIdOf(stored.object) }, certainty);
}

/** Is it known that no child of the definition wants this object of ours? */
function isUnwanted(
  { found: { claims }, did: { children } }: Pass,
  { ref: { gvk, namespace, name }, childId }: Pick<Stray, 'ref' | 'childId'>,
  { isSettled, countsDropped }: Certainty,
): boolean {
  if (claims.has(identityOf(gvk, namespace, name))) return false;
  const result = children.get(childId);
  // A child that changed its kind has dropped the objects of the old one.
  const isDropped = result === undefined || !isSameKind(result.plan.gvk, gvk);
  return isDropped ? countsDropped : isSettled(result);
}

/** The same in whatever version. */
function isSameKind(a: Gvk, b: Gvk): boolean {
  return a.group === b.group && a.kind === b.kind;
}
