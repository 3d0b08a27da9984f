import type { StoredObject } from '#kube/roles.ts';
import { type Problem, problemOfRequest, problemOfValue } from '../failure.ts';
import type { Intent } from '../intent/intent.ts';
import { applyBlocker, forgetRejection, recordRejection } from '../ledger/rejections.ts';
import { isChild } from '../ownership/is-child.ts';
import { isTerminating } from '../ownership-claims.ts';
import { clusterWrite, type Pass, requestError } from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import type { PatchWithKind } from './patch-target.ts';
import { markStarted, sentKeyOf, startedFor } from './sent-values.ts';

interface DeletedTarget {
  readonly plan: PatchWithKind;
  /** Identifies the object; its manifest is empty. */
  readonly intent: Intent;
  /** Undefined: it does not exist. */
  readonly live: StoredObject | undefined;
}

/**
 * Deletes the object that has the name now, once for this value: its UID is recorded first, so that a later process deletes no object that
 * took its name. An object that does not exist counts as deleted.
 * @returns the error, if any
 */
export async function deleteTarget(
  pass: Pass,
  { plan, intent, live }: DeletedTarget,
  value: string,
): Promise<Problem | undefined> {
  if (live === undefined || isTerminating(live.object)) return undefined;
  const { uid = '' } = live.object.metadata;
  const key = sentKeyOf(plan, intent.ref);
  const started = startedFor(pass, key, value);
  // Another one has its name by now.
  if (started !== undefined && started !== uid) return undefined;
  if (isChild(pass, live)) {
    const what = objectText(plan.gvk.kind, intent.ref.name, plan);
    return problemOfValue(`${what} is a child of the resource: it would be created again`);
  }
  const blocker = await applyBlocker(pass, { plan, intent }, live);
  if (blocker !== undefined) return blocker;
  const unrecorded = started === undefined && (await markStarted(pass, key, { value, uid }));
  if (unrecorded) return unrecorded;
  try {
    const options = { ...clusterWrite(pass, intent.ref), uid };
    await pass.context.cluster.delete(intent.ref, options, pass.signal);
    forgetRejection(pass, intent);
    pass.effects.hasWritten = true;
    pass.effects.patched.push(plan.id);
    return undefined;
  } catch (thrown) {
    const error = requestError(thrown, pass);
    if (error.code === 'uid-mismatch') return undefined;
    const { gvk, namespace } = intent.ref;
    const problem = problemOfRequest(error, { about: plan, gvk, namespace, place: plan.place });
    return recordRejection(pass, intent, { error, problem, live });
  }
}
