import type { StoredObject } from '#kube/roles.ts';
import { childPlanOf, isInInventory } from '../ownership/is-child.ts';
import { isControlledBy, isTerminating } from '../ownership-claims.ts';
import { isRemoved, type Pass, type PrunedObject } from '../pass/pass.ts';
import { queuedObject, removeObjects } from '../removal/remove-objects.ts';
import type { DeletionOptions } from './deletion-options.ts';
import { isOrphaning } from './prepare-deletion.ts';
import type { RemainingChildren } from './remaining-children.ts';

const whyDeleted = 'The resource is being deleted';
const whyUninstalled = 'The definition is being removed';

/**
 * Removes the children of a resource that is being deleted: dependents first, each waited for, or all at once. The objects of `onDelete` are
 * removed last. Objects with an owner reference are left to the garbage collector unless the definition has rules for them. While a list
 * is unknown, objects that others may depend on are kept.
 */
export async function removeInOrder(
  pass: Pass,
  { objects, problems }: RemainingChildren,
  deletion: DeletionOptions,
): Promise<readonly PrunedObject[]> {
  const isAllKnown = problems.length === 0;
  if (deletion.isReverseOrder && !isAllKnown) return [];
  const leaving = objects
    .filter((stored) => !isGarbageCollected(pass, stored))
    .filter((stored) => isAllKnown || !isOnDeleteChild(pass, stored));
  const why = isTerminating(pass.resource) ? whyDeleted : whyUninstalled;
  const options = {
    why,
    isForeground: deletion.isReverseOrder,
    held: deletion.isForced && isAllKnown ? 'release' : 'wait',
    isAtOnce: deletion.isForced,
    isOrphaning: isOrphaning(pass),
  } as const;
  const removed: PrunedObject[] = [];
  let before: StoredObject | undefined;
  for (const rank of byRank(pass, leaving, deletion)) {
    if (before !== undefined) {
      const blocking = before;
      removed.push(...rank.map((stored) => queuedObject(pass, stored, { before: blocking, why })));
      continue;
    }
    const results = await removeObjects(pass, rank, options);
    removed.push(...results);
    const remaining = results.find((each) => !isRemoved(each));
    if (remaining !== undefined && !deletion.isForced)
      before = rank.find((each) => each.object === remaining.object);
  }
  return removed;
}

/**
 * The garbage collector deletes nothing of a live resource, and ignores `onDelete`: its objects are in the inventory. An object that only
 * refers to the resource must not block its deletion.
 */
function isGarbageCollected(pass: Pass, stored: StoredObject): boolean {
  const { resource, context } = pass;
  if (!isTerminating(resource) || !isControlledBy(stored.object, pass.uid)) return false;
  return context.plan.onDelete === undefined || !isInInventory(pass, stored);
}

/** The objects by the order of their deletion. */
function byRank(
  pass: Pass,
  leaving: readonly StoredObject[],
  deletion: DeletionOptions,
): readonly (readonly StoredObject[])[] {
  const ranks = new Map<number, StoredObject[]>();
  for (const stored of leaving) {
    const rank = rankOf(pass, stored, deletion);
    const objects = ranks.get(rank) ?? [];
    ranks.set(rank, objects);
    objects.push(stored);
  }
  return [...ranks.keys()].sort((a, b) => b - a).map((rank) => ranks.get(rank) ?? []);
}

/** Higher ranks are deleted first: objects of no child of the definition, then dependents, and last the objects of `onDelete`. */
function rankOf(pass: Pass, stored: StoredObject, { isReverseOrder }: DeletionOptions): number {
  const { plan } = pass.context;
  if (isOnDeleteChild(pass, stored)) return -1;
  if (!isReverseOrder) return 0;
  const child = childPlanOf(pass, stored);
  // With `kinds`, the object has the plan of its kind.
  const tier = plan.tiers.findIndex((children) => children.some(({ id }) => id === child?.id));
  return tier < 0 ? plan.tiers.length : tier;
}

function isOnDeleteChild(pass: Pass, stored: StoredObject): boolean {
  const child = childPlanOf(pass, stored);
  return child !== undefined && pass.context.plan.onDelete?.children.includes(child) === true;
}
