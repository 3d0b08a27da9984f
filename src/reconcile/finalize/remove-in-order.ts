import type { StoredObject } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { isControlledBy, isTerminating } from '../owner.ts';
import { childPlanOf, isOnRecord } from '../ownership/is-child.ts';
import { isDone, type Pass, type PrunedObject } from '../pass/pass.ts';
import { removeObjects, waiting } from '../removal/remove-objects.ts';
import type { DeletionTerms } from './deletion-terms.ts';
import { isOrphaning } from './note-orphaning.ts';
import type { Left } from './what-is-left.ts';

const whyDeleted = 'The resource is being deleted';
const whyRetired = 'The definition is being removed';

/**
 * Removes the children of a resource that goes: dependents first, each waited for, or all at once; what `onDelete` has made last.
 * What has an owner reference to the resource is left to the garbage collector, unless the definition wants to be asked. While it is
 * not known what there is, nothing goes that others may have to go before.
 */
export async function removeInOrder(
  pass: Pass,
  { objects, problems }: Left,
  terms: DeletionTerms,
): Promise<readonly PrunedObject[]> {
  const isAllKnown = problems.length === 0;
  if (terms.isInOrder && !isAllKnown) return [];
  const leaving = objects
    .filter(({ object }) => !isLeftToCollector(pass, object))
    .filter(({ object }) => isAllKnown || !isMadeOnDelete(pass, object));
  const why = isTerminating(pass.resource) ? whyDeleted : whyRetired;
  const options = {
    why,
    isThorough: terms.isInOrder,
    held: terms.givesUp && isAllKnown ? 'release' : 'wait',
    isAtOnce: terms.givesUp,
    isOrphaning: isOrphaning(pass),
  } as const;
  const removed: PrunedObject[] = [];
  let before: StoredObject | undefined;
  for (const rank of byRank(pass, leaving, terms)) {
    if (before !== undefined) {
      const blocking = before;
      removed.push(...rank.map((stored) => waiting(pass, stored, { before: blocking, why })));
      continue;
    }
    const results = await removeObjects(pass, rank, options);
    removed.push(...results);
    const left = results.find((each) => !isDone(each));
    if (left !== undefined && !terms.givesUp)
      before = rank.find((each) => each.object === left.object);
  }
  return removed;
}

/**
 * The collector takes nothing from a resource that lives, and does not ask a definition with `onDelete`: what that has made is on
 * record. What only refers to the resource must not keep it.
 */
function isLeftToCollector(pass: Pass, object: KubeObject): boolean {
  const { resource, context } = pass;
  if (!isTerminating(resource) || !isControlledBy(object, pass.uid)) return false;
  return context.plan.onDelete === undefined || !isOnRecord(pass, object);
}

/** The objects by the order in which they go. */
function byRank(
  pass: Pass,
  leaving: readonly StoredObject[],
  terms: DeletionTerms,
): readonly (readonly StoredObject[])[] {
  const ranks = new Map<number, StoredObject[]>();
  for (const stored of leaving) {
    const rank = rankOf(pass, stored, terms);
    const objects = ranks.get(rank) ?? [];
    ranks.set(rank, objects);
    objects.push(stored);
  }
  return [...ranks.keys()].sort((a, b) => b - a).map((rank) => ranks.get(rank) ?? []);
}

/** Greater goes first: what depends on others, before all what the definition does not know any more; last what `onDelete` made. */
function rankOf(pass: Pass, { object }: StoredObject, { isInOrder }: DeletionTerms): number {
  const { plan } = pass.context;
  if (isMadeOnDelete(pass, object)) return -1;
  if (!isInOrder) return 0;
  const child = childPlanOf(pass, object);
  const tier = plan.tiers.findIndex((children) => child !== undefined && children.includes(child));
  return tier < 0 ? plan.tiers.length : tier;
}

function isMadeOnDelete(pass: Pass, object: KubeObject): boolean {
  const child = childPlanOf(pass, object);
  return child !== undefined && pass.context.plan.onDelete?.children.includes(child) === true;
}
