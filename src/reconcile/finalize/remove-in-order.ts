import type { Informer, StoredObject } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { historyAnnotationOf, recordOfLabel } from '../../util/stored-names.ts';
import { type Problem, problemOfRequest, problemOfWaiting } from '../failure.ts';
import { isRecord, revisionKind, secretKind } from '../history/record.ts';
import { refOfStored } from '../identity.ts';
import { childPlanOf, isInInventory } from '../ownership/is-child.ts';
import { isControlledBy, isTerminating } from '../ownership-claims.ts';
import {
  clusterWrite,
  isRemoved,
  type Pass,
  type PrunedObject,
  requestError,
} from '../pass/pass.ts';
import { queuedObject, removeObjects } from '../removal/remove-objects.ts';
import { publicContent } from '../secrecy.ts';
import { listOf, settledSoon } from '../watch/informer-waits.ts';
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
    .filter(({ object }) => !isGarbageCollected(pass, object))
    .filter(({ object }) => isAllKnown || !isOnDeleteChild(pass, object));
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
function isGarbageCollected(pass: Pass, object: KubeObject): boolean {
  const { resource, context } = pass;
  if (!isTerminating(resource) || !isControlledBy(object, pass.uid)) return false;
  return context.plan.onDelete === undefined || !isInInventory(pass, object);
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
function rankOf(pass: Pass, { object }: StoredObject, { isReverseOrder }: DeletionOptions): number {
  const { plan } = pass.context;
  if (isOnDeleteChild(pass, object)) return -1;
  if (!isReverseOrder) return 0;
  const child = childPlanOf(pass, object);
  const tier = plan.tiers.findIndex((children) => child !== undefined && children.includes(child));
  return tier < 0 ? plan.tiers.length : tier;
}

function isOnDeleteChild(pass: Pass, object: KubeObject): boolean {
  const child = childPlanOf(pass, object);
  return child !== undefined && pass.context.plan.onDelete?.children.includes(child) === true;
}

/** How long the deletion waits for the list of records before it is tried again. */
const listLimitMs = 10_000;
/** Records that are deleted at the same time. */
const concurrency = 10;

/**
 * Deletes the versions in other namespaces of a resource that is being deleted; the garbage collector deletes those in its own. Needs no
 * plan: an annotation names the kinds. Versions of a resource that stays are kept.
 * @returns why some may remain
 */
export async function removeRecords(pass: Pass): Promise<readonly Problem[]> {
  const { context, resource, uid, signal } = pass;
  const kinds = resource.metadata.annotations?.[historyAnnotationOf(context.plan.name)] ?? '';
  if (kinds === '' || !isTerminating(resource)) return [];
  const { cluster, clock } = context;
  const informers = [revisionKind, secretKind]
    .filter(({ kind }) => kinds.split(',').includes(kind))
    .map((gvk) => cluster.acquire({ gvk, labelSelector: `${recordOfLabel}=${uid}` }));
  try {
    await settledSoon(informers, { clock, timeoutMs: listLimitMs, signal });
    const problems = await Promise.all(informers.map((informer) => removeFrom(pass, informer)));
    return problems.flat();
  } finally {
    for (const informer of informers) informer.release();
  }
}

async function removeFrom(pass: Pass, informer: Informer): Promise<readonly Problem[]> {
  const { context, namespace, signal } = pass;
  const { state } = informer;
  if (state.kind === 'waiting') return [{ ...problemOfWaiting([listOf(informer)]), ...again }];
  if (state.kind === 'failing')
    return [problemOfRequest(state.error, { about: publicContent, gvk: informer.query.gvk })];
  const left = [...informer.list()].filter(
    (stored) =>
      isRecord(stored, context.plan.name) && stored.object.metadata.namespace !== namespace,
  );
  const problems: Problem[] = [];
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { uid = '' } = next.object.metadata;
      try {
        const options = { ...clusterWrite(pass), uid };
        await context.cluster.delete(refOfStored(next.object), options, signal);
      } catch (thrown) {
        const error = requestError(thrown, pass);
        if (error.code === 'uid-mismatch') continue;
        problems.push(problemOfRequest(error, { about: publicContent }));
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return problems;
}

/** No event tells when the list arrives: it is tried again. */
const again = { kind: 'permanent', retryAfterMs: 5_000 } as const;
