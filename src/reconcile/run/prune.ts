import type { StoredObject } from '../../kube/roles.ts';
import { childIdOf } from '../identity.ts';
import { isTerminating } from '../owner.ts';
import { noteRecorded } from '../ownership/recorded-strays.ts';
import type { ChildResult, ElementResult, Pass, PrunedObject } from '../pass/pass.ts';
import { doomedOf } from '../removal/doomed.ts';
import { removeObjects } from '../removal/remove-objects.ts';
import { failedStray, findStrays } from '../removal/strays.ts';
import { type Certainty, isUnwanted, unwantedObjects } from './unwanted.ts';

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
