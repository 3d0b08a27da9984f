import type { EditableMetadata, MetadataPatch, StoredObject } from '#kube/roles.ts';
import { isJsonObject } from '#util/json.ts';
import {
  childAnnotations,
  childLabels,
  fieldManagerOf,
  managedByLabel,
  managedByValue,
} from '#util/stored-names.ts';
import { problemOfRequest } from '../failure.ts';
import { childIdOf, identityOfRef, refOfStored } from '../identity.ts';
import { deletionBlocker, recordDeletionRejection } from '../ledger/rejections.ts';
import { disclosureOf } from '../ownership/is-child.ts';
import { isTerminating } from '../ownership-claims.ts';
import {
  allSettledOrThrow,
  clusterWrite,
  isRemoved,
  type Pass,
  type PrunedObject,
  requestError,
} from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import {
  type Chain,
  cascadeOf,
  chainsOf,
  deletePermission,
  isOrdered,
  isOrphaned,
} from './removal-rules.ts';

interface RemovalOptions {
  /** Why they are removed, for people: `No longer desired`. */
  readonly why: string;
  /** Are objects deleted only after their dependents (foreground)? @default false */
  readonly isForeground?: boolean;
  /** Are objects that `deleteWhen` holds waited for, or released? @default 'wait' */
  readonly held?: 'wait' | 'release';
  /** Are elements of ordered children deleted at the same time? @default false */
  readonly isAtOnce?: boolean;
  /** Are all objects released? @default false */
  readonly isOrphaning?: boolean;
}

/**
 * Removes objects by the rules of their definition: orphans are released, held ones are kept, and elements of ordered children are deleted
 * one by one from the last. All others are deleted at once. The rest follows in a later pass, which an event triggers.
 */
export async function removeObjects(
  pass: Pass,
  leaving: readonly StoredObject[],
  options: RemovalOptions,
): Promise<readonly PrunedObject[]> {
  const chains = options.isAtOnce === true ? leaving.map((one) => [one]) : chainsOf(pass, leaving);
  const removed = await allSettledOrThrow(chains.map((chain) => removeChain(pass, chain, options)));
  return removed.flat();
}

async function removeChain(
  pass: Pass,
  chain: Chain,
  options: RemovalOptions,
): Promise<readonly PrunedObject[]> {
  const removed: PrunedObject[] = [];
  let before: StoredObject | undefined;
  for (const stored of chain) {
    if (before !== undefined) {
      removed.push(queuedObject(pass, stored, { before, ...options }));
      continue;
    }
    const one = await removeOne(pass, stored, options);
    removed.push(one);
    if (!isRemoved(one)) before = stored;
  }
  return removed;
}

/** The result for an object that waits for the deletion of others. */
export function queuedObject(
  pass: Pass,
  { object, cluster }: StoredObject,
  { before, why }: Pick<RemovalOptions, 'why'> & { readonly before: StoredObject },
): PrunedObject {
  const { kind, metadata } = before.object;
  const what = objectText(kind, metadata.name, disclosureOf(pass, before));
  const message = `${why}; waiting for ${what} to be deleted`;
  return {
    childId: childIdOf(object),
    object,
    cluster,
    state: 'held',
    isQueued: true,
    message,
  };
}

async function removeOne(
  pass: Pass,
  stored: StoredObject,
  { why, isForeground = false, held = 'wait', isOrphaning = false }: RemovalOptions,
): Promise<PrunedObject> {
  const { object, cluster } = stored;
  const childId = childIdOf(object);
  // Before the check for its deletion: an orphan is never waited for. A claim that a user has deleted remains while a Pod mounts it, and the
  // Pod is deleted only after the resource.
  if (isOrphaning || isOrphaned(pass, stored)) return releaseObject(pass, stored);
  if (isTerminating(object)) return { childId, object, cluster, state: 'deleting', message: why };
  const leave = await deletePermission(pass, stored);
  if (leave.kind !== 'granted' && held === 'release') return releaseObject(pass, stored);
  switch (leave.kind) {
    case 'granted':
      return deleteObject(pass, stored, {
        why,
        isForeground: isForeground || isOrdered(pass, stored),
      });
    case 'held':
      return {
        childId,
        object,
        cluster,
        state: 'held',
        heldBy: leave.message,
        message: `${why}; ${leave.message}`,
      };
    case 'failed':
      return { childId, object, cluster, state: 'failed', problem: leave.problem };
  }
}

/** Deletes one object by its UID. A rejection is a result, too. */
export async function deleteObject(
  pass: Pass,
  stored: StoredObject,
  { why, isForeground = false }: Pick<RemovalOptions, 'why' | 'isForeground'>,
): Promise<PrunedObject> {
  const { object, cluster } = stored;
  const { uid = '' } = object.metadata;
  const childId = childIdOf(object);
  if (isTerminating(object)) return { childId, object, cluster, state: 'deleting', message: why };
  const rejected = deletionBlocker(pass, uid);
  if (rejected !== undefined)
    return { childId, object, cluster, state: 'failed', problem: rejected };
  const ref = refOfStored(stored);
  const cascade = cascadeOf(pass, stored);
  // Dependents that are kept are not waited for.
  const propagation = isForeground && cascade !== 'Orphan' ? 'Foreground' : cascade;
  try {
    const options = { ...clusterWrite(pass), uid, propagation } as const;
    const answer = await pass.context.cluster.delete(ref, options, pass.signal);
    pass.effects.hasWritten = true;
    pass.state.responses.forget(identityOfRef(ref));
    const state = answer === 'deleting' ? 'deleting' : 'deleted';
    if (state === 'deleted') pass.state.untracked.delete(identityOfRef(ref));
    return { childId, object, cluster, state, message: why };
  } catch (thrown) {
    const error = requestError(thrown, pass);
    // Another object has the name: the one to delete is deleted.
    if (error.code === 'uid-mismatch')
      return { childId, object, cluster, state: 'deleted', message: why };
    const problem = problemOfRequest(error, { about: disclosureOf(pass, stored) });
    recordDeletionRejection(pass, uid, problem);
    return { childId, object, cluster, state: 'failed', problem };
  }
}

/**
 * Removes our labels, annotations, owner reference and apply entry from an object, so that the garbage collector keeps it and no later
 * resource takes it for its child. Its values are kept.
 */
async function releaseObject(pass: Pass, stored: StoredObject): Promise<PrunedObject> {
  const { context, uid: ownerUid, signal } = pass;
  const { object, cluster } = stored;
  const childId = childIdOf(object);
  const ref = refOfStored(stored);
  const manager = fieldManagerOf(context.plan.name);
  try {
    await context.cluster.editMetadata(
      ref,
      {
        ...clusterWrite(pass),
        uid: object.metadata.uid ?? '',
        change: (metadata) => withoutOwnership(metadata, { manager, ownerUid }),
      },
      signal,
    );
    pass.effects.hasWritten = true;
    pass.state.untracked.delete(identityOfRef(ref));
    return { childId, object, cluster, state: 'released' };
  } catch (error) {
    const about = disclosureOf(pass, stored);
    const problem = problemOfRequest(requestError(error, pass), { about });
    return { childId, object, cluster, state: 'failed', problem };
  }
}

interface Owner {
  readonly manager: string;
  readonly ownerUid: string;
}

/** @internal for its test */
export function withoutOwnership(
  metadata: EditableMetadata,
  { manager, ownerUid }: Owner,
): MetadataPatch {
  const { labels = {}, annotations = {}, ownerReferences, managedFields } = metadata;
  const ourLabels = Object.keys(labels).filter(
    (key) =>
      childLabels.includes(key) || (key === managedByLabel && labels[key] === managedByValue),
  );
  // Not all under our prefix: some annotations belong to users (`homeostat.dev/paused`).
  const ourAnnotations = Object.keys(annotations).filter((key) => childAnnotations.includes(key));
  return {
    labels: nulls(ourLabels),
    annotations: nulls(ourAnnotations),
    ...(ownerReferences && {
      ownerReferences: ownerReferences.filter(({ uid }) => uid !== ownerUid),
    }),
    ...(Array.isArray(managedFields) && { managedFields: withoutManager(managedFields, manager) }),
  };
}

function nulls(keys: readonly string[]): Readonly<Record<string, null>> {
  return Object.fromEntries(keys.map((key) => [key, null]));
}

function withoutManager(entries: readonly unknown[], manager: string): readonly unknown[] {
  const others = entries.filter(
    (entry) => !isJsonObject(entry) || entry.manager !== manager || entry.operation !== 'Apply',
  );
  // A server ignores an empty list; a list with one empty entry removes all managers.
  return others.length === 0 ? [{}] : others;
}
