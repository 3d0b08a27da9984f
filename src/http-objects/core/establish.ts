import { sha256Hex } from '../../util/sha256.ts';
import { confirmAbsent } from './confirm-absent.ts';
import type { Known } from './identity.ts';
import type { ObjectPlan } from './plan.ts';
import type { ObjectRecord, PendingCreate } from './record.ts';
import { ownedRecord, withoutPending } from './recover.ts';
import {
  atNextLook,
  later,
  settled,
  settledFailure,
  settledManaged,
  settledMissingId,
  settledObserved,
  settledSeveral,
} from './settle.ts';
import { failureIn, foundIn, type Step, type View } from './view.ts';

/** Finds the object, or creates it. */
export function establish(view: View, plan: ObjectPlan, known: Known): Step {
  const { identity } = known;
  const { seen } = view;
  const rejected = failureIn(seen, 'create');
  // 409: it exists, so it is looked for again.
  if (rejected !== undefined && rejected.status !== 409) return settledFailure(rejected);
  const role = plan.needsId ? 'find' : 'observe';
  const request = identity[role];
  if (request === undefined) return create(view, plan, known);
  const answer = seen.answers[role];
  if (answer === undefined) return { kind: 'send', role, request };
  if (answer.kind === 'failed') return settledFailure(answer.failure);
  if (answer.kind === 'absent') return confirmAbsent(view) ?? create(view, plan, known);
  if (role === 'observe') return adopt(plan, known, undefined);
  const found = foundIn(seen);
  const [only] = found;
  if (only === undefined) return create(view, plan, known);
  if (found.length > 1) return settledSeveral(found.length);
  if (only.id === undefined) return settledMissingId();
  const owner = view.ownerOf(only.id);
  return owner === undefined ? adopt(plan, known, only.id) : settledManaged(owner);
}

/** Takes over an existing object, if the spec permits it. */
function adopt(plan: ObjectPlan, { record }: Known, id: string | undefined): Step {
  if (plan.spec.adopt === 'Never')
    return settled(
      'Conflict',
      'The object exists, and this HttpObject did not create it; set "adopt: IfFound" to manage it',
      later,
    );
  return { kind: 'store', record: ownedRecord(record, id) };
}

/** Stores that a create is pending, before it is sent. */
function create({ seen, metadata, nowMs }: View, plan: ObjectPlan, { record }: Known): Step {
  if (failureIn(seen, 'create') !== undefined)
    return settled(
      'Conflict',
      `The API answers that the object exists (409), but "${plan.needsId ? 'find' : 'observe'}" does not return it`,
      later,
    );
  if (plan.requests.create === undefined)
    return settledObserved(
      'NotFound',
      'The object does not exist, and the spec has no "create"',
      atNextLook,
    );
  if (plan.hasOneTimeSecret && seen.isSecretPrepared !== true) return { kind: 'prepareSecret' };
  const creates = (record.creates ?? 0) + 1;
  const key = sha256Hex(`${metadata.uid ?? ''} ${creates} ${nowMs}`).slice(0, 12);
  const { match } = plan;
  const pending = { key, sinceMs: nowMs, ...(record.identity?.find && { match }) };
  return { kind: 'store', record: { ...record, creates, pending }, arms: key };
}

/** Sends the create that this reconcile has stored as pending, and records its result. */
export function sendCreate(
  { seen }: View,
  plan: ObjectPlan,
  { record, pending }: { readonly record: ObjectRecord; readonly pending: PendingCreate },
): Step {
  const answer = seen.answers.create;
  const request = plan.requests.create;
  if (request === undefined) return { kind: 'store', record: withoutPending(record) };
  if (answer === undefined) return { kind: 'send', role: 'create', request };
  const failure = failureIn(seen, 'create');
  if (failure !== undefined)
    return failure.mayHaveArrived
      ? settledFailure(failure)
      : { kind: 'store', record: withoutPending(record) };
  const id = answer.kind === 'ok' ? answer.id : undefined;
  if (plan.needsId && id === undefined) return settledMissingId();
  if (plan.hasOneTimeSecret && seen.secret === undefined)
    return { kind: 'storeSecret', key: pending.key, id };
  return {
    kind: 'store',
    record: {
      ...ownedRecord(record, id),
      ...(plan.recordsContent && { sent: plan.content }),
    },
  };
}
