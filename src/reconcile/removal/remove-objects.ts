import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { noteRejectedDeletion, whyNotDelete } from '../attempt/limiter.ts';
import { problemOfRequest } from '../failure.ts';
import { childIdOf, identityOf, refOfStored, topicOfRef } from '../identity.ts';
import { isTerminating } from '../owner.ts';
import { aboutObject } from '../ownership/is-child.ts';
import { allEnded, isDone, type Pass, type PrunedObject, worldWrite } from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import { type Chain, chainsOf, isOrdered, isOrphaned, mayGo } from './leaving.ts';
import { releaseObject } from './release-object.ts';

export interface RemovalOptions {
  /** Why they go, for people: `Not wanted`. */
  readonly why: string;
  /** Is an object gone only when all that it has made is gone too? @default false */
  readonly isThorough?: boolean;
  /** What `deleteWhen` holds: is it waited for, or left behind? @default 'wait' */
  readonly held?: 'wait' | 'release';
  /** Do elements of ordered children go without waiting for each other? @default false */
  readonly isAtOnce?: boolean;
  /** Does everything stay, no longer ours? @default false */
  readonly isOrphaning?: boolean;
}

/**
 * Removes objects of ours, as their definition says: orphans are released, what is guarded stays, elements of ordered children go one
 * by one from the last. Everything else goes at once. What does not go now goes in a later pass: it is woken by what it waits for.
 */
export async function removeObjects(
  pass: Pass,
  leaving: readonly StoredObject[],
  options: RemovalOptions,
): Promise<readonly PrunedObject[]> {
  const chains = options.isAtOnce === true ? leaving.map((one) => [one]) : chainsOf(pass, leaving);
  const removed = await allEnded(chains.map((chain) => removeChain(pass, chain, options)));
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
      removed.push(waiting(pass, stored, { before, ...options }));
      continue;
    }
    const one = await removeOne(pass, stored, options);
    removed.push(one);
    if (!isDone(one)) before = stored;
  }
  return removed;
}

/** Held back until others are gone. */
export function waiting(
  pass: Pass,
  { object }: StoredObject,
  { before, why }: Pick<RemovalOptions, 'why'> & { readonly before: StoredObject },
): PrunedObject {
  const { kind, metadata } = before.object;
  const what = objectText(kind, metadata.name, aboutObject(pass, before.object));
  const message = `${why}; waits until ${what} is gone`;
  return {
    childId: childIdOf(object),
    object,
    state: 'held',
    isQueued: true,
    message,
  };
}

async function removeOne(
  pass: Pass,
  stored: StoredObject,
  { why, isThorough = false, held = 'wait', isOrphaning = false }: RemovalOptions,
): Promise<PrunedObject> {
  const { object } = stored;
  const childId = childIdOf(object);
  if (isTerminating(object)) return { childId, object, state: 'deleting', message: why };
  if (isOrphaning || isOrphaned(pass, object)) return releaseObject(pass, stored);
  const leave = await mayGo(pass, stored);
  if (leave.kind !== 'granted' && held === 'release') return releaseObject(pass, stored);
  switch (leave.kind) {
    case 'granted':
      return deleteObject(pass, stored, {
        why,
        isThorough: isThorough || isOrdered(pass, object),
      });
    case 'held':
      return { childId, object, state: 'held', message: `${why}; ${leave.message}` };
    case 'failed':
      return { childId, object, state: 'failed', problem: leave.problem };
  }
}

/** Deletes one object, by its UID. What the server refuses is the result, too. */
export async function deleteObject(
  pass: Pass,
  stored: StoredObject,
  { why, isThorough = false }: Pick<RemovalOptions, 'why' | 'isThorough'>,
): Promise<PrunedObject> {
  const { object } = stored;
  const { uid = '' } = object.metadata;
  const childId = childIdOf(object);
  if (isTerminating(object)) return { childId, object, state: 'deleting', message: why };
  const rejected = whyNotDelete(pass, uid);
  if (rejected !== undefined) return { childId, object, state: 'failed', problem: rejected };
  const ref = refOfStored(object);
  const propagation = isThorough ? 'Foreground' : 'Background';
  try {
    const options = { ...worldWrite(pass), uid, propagation } as const;
    const answer = await pass.context.cluster.delete(ref, options, pass.signal);
    pass.did.hasWritten = true;
    pass.state.attempts.forgetAnswers(topicOfRef(ref));
    const state = answer === 'deleting' ? 'deleting' : 'gone';
    if (state === 'gone') pass.state.strays.delete(identityOf(ref.gvk, ref.namespace, ref.name));
    return { childId, object, state, message: why };
  } catch (error) {
    if (!(error instanceof KubeError) || pass.signal.aborted) throw error;
    // Another object has its name by now: what was to go is gone.
    if (error.code === 'uid-mismatch') return { childId, object, state: 'gone', message: why };
    const problem = problemOfRequest(error, { about: aboutObject(pass, object) });
    noteRejectedDeletion(pass, uid, problem);
    return { childId, object, state: 'failed', problem };
  }
}
