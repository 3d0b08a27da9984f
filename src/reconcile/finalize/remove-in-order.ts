import type { StoredObject } from '../../kube/roles.ts';
import { isControlledBy } from '../pass/ownership.ts';
import type { Pass, PrunedObject } from '../pass/pass.ts';
import { childPlanOf } from '../removal/leaving.ts';
import { isDone, removeObjects, waiting } from '../removal/remove-objects.ts';
import type { DeletionTerms } from './deletion-terms.ts';

const why = 'The resource is being deleted';

/**
 * Removes the children of a resource that goes: dependents first, each waited for, or all at once; what `onDelete` has made last.
 * What has an owner reference to the resource is left to the garbage collector, unless the definition wants to be asked.
 */
export async function removeInOrder(
  pass: Pass,
  objects: readonly StoredObject[],
  terms: DeletionTerms,
): Promise<readonly PrunedObject[]> {
  const isAsked = pass.context.plan.onDelete !== undefined;
  const leaving = objects.filter((stored) => isAsked || !isControlledBy(stored.object, pass.uid));
  const options = {
    why,
    isThorough: terms.isInOrder,
    held: terms.givesUp ? 'release' : 'wait',
    isOrphaning: isOrphaning(pass),
  } as const;
  const removed: PrunedObject[] = [];
  let before: StoredObject | undefined;
  for (const rank of byRank(pass, leaving, terms)) {
    if (before !== undefined) {
      const blocking = before;
      removed.push(...rank.map((stored) => waiting(stored, blocking, { why })));
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
  const child = childPlanOf(pass, object);
  if (child !== undefined && plan.onDelete?.children.includes(child)) return -1;
  if (!isInOrder) return 0;
  const tier = plan.tiers.findIndex((children) => child !== undefined && children.includes(child));
  return tier < 0 ? plan.tiers.length : tier;
}

/** Was it said, when the resource was deleted, that what it owns is to stay (`--cascade=orphan`)? */
function isOrphaning({ resource, state }: Pass): boolean {
  state.isOrphaning ||= resource.metadata.finalizers?.includes('orphan') === true;
  return state.isOrphaning;
}
