import { sha256Hex } from '#util/sha256.ts';
import { confirmAbsent } from './confirm-absent.ts';
import type { Known } from './identity.ts';
import type { ObjectPlan } from './plan.ts';
import type { FarRequest, ObjectRecord, PendingCreate } from './record.ts';
import { arrivalMs, ownedRecord, withoutPending } from './recover.ts';
import {
  atNextLook,
  later,
  settled,
  settledFailure,
  settledManaged,
  settledMissingCode,
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
  if (role === 'observe') return adopt(view, plan, { record: known.record });
  const found = foundIn(seen);
  const [only] = found;
  if (only === undefined) return create(view, plan, known);
  if (found.length > 1) return settledSeveral(found.length);
  if (only.id === undefined) return settledMissingCode(view, 'find');
  const owner = view.ownerOf(only.id);
  return owner === undefined
    ? adopt(view, plan, { record: known.record, id: only.id })
    : settledManaged(owner);
}

/** Takes over an existing object, if the spec permits it. */
function adopt(
  { nowMs }: View,
  plan: ObjectPlan,
  { record, id }: Pick<Known, 'record'> & { readonly id?: string },
): Step {
  if (plan.spec.adopt === 'Never')
    return settled(
      'Conflict',
      'The object exists, and this HttpObject did not create it; set "adopt: IfFound" to manage it',
      later,
    );
  return { kind: 'store', record: ownedRecord(record, id, nowMs) };
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
  view: View,
  plan: ObjectPlan,
  { record, pending }: { readonly record: ObjectRecord; readonly pending: PendingCreate },
): Step {
  const { seen, nowMs } = view;
  const answer = seen.answers.create;
  const request = plan.requests.create;
  if (request === undefined) return { kind: 'store', record: withoutPending(record) };
  if (answer === undefined) return { kind: 'send', role: 'create', request };
  const failure = failureIn(seen, 'create');
  if (failure !== undefined)
    return failure.mayHaveArrived ||
      mayEarlierArrive(view, request, { record, status: failure.status })
      ? settledFailure(failure)
      : { kind: 'store', record: withoutPending(record) };
  const id = answer.kind === 'ok' ? answer.id : undefined;
  if (plan.needsId && id === undefined) return settledMissingCode(view, 'create');
  if (plan.hasOneTimeSecret && seen.secret === undefined)
    return { kind: 'storeSecret', key: pending.key, id };
  // A `PUT` to the path of the object may be repeated.
  const isRepeatable = !plan.needsId && request.method === 'PUT';
  return {
    kind: 'store',
    record: {
      ...ownedRecord(record, id, nowMs),
      ...(!isRepeatable && { isUnobserved: true }),
      ...(plan.recordsContent && { sent: plan.content }),
    },
  };
}

/** A `PUT` is sent again before an earlier one without an answer has arrived: what that one makes is ours, too. */
function mayEarlierArrive(
  view: View,
  { method }: FarRequest,
  { record, status }: { readonly record: ObjectRecord; readonly status: number | undefined },
): boolean {
  const isRepeated = method === 'PUT' && (record.creates ?? 0) > 1 && status !== 409;
  return isRepeated && view.nowMs < arrivalMs(view, view.lostAtMs);
}
