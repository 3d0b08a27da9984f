import { confirmAbsent } from './confirm-absent.ts';
import {
  type FarRequest,
  type Identity,
  type ObjectRecord,
  type PendingCreate,
  usesId,
} from './record.ts';
import { atEvent, later, settled, settledFailure, settledMissingCode } from './settle.ts';
import { failureIn, foundIn, type Step, type View } from './view.ts';

/** Annotation with the id of the object that a pending create made. */
export const idAnnotation = 'homeostat.dev/http-id';
/** Annotation with the key of a create that created nothing, or whose object is created again. */
export const approveCreateAnnotation = 'homeostat.dev/approve-create';

/** After a time-out, the time in which a request that was sent can still arrive. */
const graceMs = 30_000;
/** Between the two answers that nothing was created. */
const betweenMs = 5_000;

export interface Recovery {
  readonly record: ObjectRecord;
  readonly identity: Identity;
  readonly pending: PendingCreate;
  /** A repeated create has the same result, so the first answer counts. */
  readonly isRepeatable: boolean;
  /** The answer has values for a Secret. */
  readonly hasSecret: boolean;
}

/** The record of an object that exists and belongs to this one. One with an id was not observed so far. */
export function ownedRecord(
  record: ObjectRecord,
  id: string | undefined,
  nowMs: number,
): ObjectRecord {
  const { identity, createdBy: _, createdAtMs: __, ...others } = withoutPending(record);
  const { pending } = record;
  const isUnobserved = identity !== undefined && usesId(identity.observe);
  return {
    ...others,
    ...(pending && { createdBy: pending.key, createdAtMs: nowMs }),
    ...(identity && { identity: { ...identity, ...(id !== undefined && { id }) } }),
    isOwned: true,
    ...(isUnobserved && { isUnobserved }),
  };
}

/** The record without a pending create. */
export function withoutPending({ pending: _, ...record }: ObjectRecord): ObjectRecord {
  return record;
}

/**
 * Finds out what a create did whose answer is not known. It is not sent again before the API has answered twice, after the request
 * cannot arrive any more, that nothing was created.
 */
export function recover(view: View, recovery: Recovery): Step {
  const { record, identity, pending, hasSecret } = recovery;
  const { approvals, seen, nowMs } = view;
  const needsId = usesId(identity.observe);
  if (hasSecret && seen.secret === undefined) return { kind: 'recallSecret', key: pending.key };
  const recalled = seen.secret?.kind === 'stored' ? seen.secret.id : undefined;
  const known = recalled ?? approvals.id;
  if (needsId && known !== undefined)
    return { kind: 'store', record: ownedRecord(record, known, nowMs) };
  if (approvals.create === pending.key)
    return untilArrived(view, pending) ?? { kind: 'store', record: withoutPending(record) };
  if (!needsId) return ask(view, recovery, { role: 'observe', request: identity.observe });
  if (identity.find !== undefined)
    return ask(view, recovery, { role: 'find', request: identity.find });
  return settled(
    'CreateUnknown',
    `The answer to the create was lost, and nothing can find what it created. Set the annotation "${idAnnotation}" to its id, or "${approveCreateAnnotation}" to "${pending.key}" if nothing was created`,
    atEvent,
  );
}

function ask(
  view: View,
  recovery: Recovery,
  { role, request }: { readonly role: 'find' | 'observe'; readonly request: FarRequest },
): Step {
  const { seen, nowMs } = view;
  const { record } = recovery;
  const answer = seen.answers[role];
  if (answer === undefined) return { kind: 'send', role, request };
  const failure = failureIn(seen, role);
  if (failure !== undefined) return settledFailure(failure);
  if (answer.kind === 'absent') return confirmAbsent(view) ?? none(view, recovery);
  if (role === 'observe') return { kind: 'store', record: ownedRecord(record, undefined, nowMs) };
  // What another HttpObject owns is not what this one created.
  const found = foundIn(seen).filter(({ id }) => id === undefined || !view.ownerOf(id));
  const [only] = found;
  if (only === undefined) return none(view, recovery);
  if (found.length > 1)
    return settled(
      'Conflict',
      `The answer to the create was lost, and ${found.length} objects match. Set the annotation "${idAnnotation}" to the id of the created one`,
      later,
    );
  return only.id === undefined
    ? settledMissingCode(view, 'find')
    : { kind: 'store', record: ownedRecord(record, only.id, nowMs) };
}

/**
 * Waits while the request can still arrive. Undefined: it cannot. It may have been sent long after it was stored, because it waits for its
 * turn and for a token: it had ended when its answer was lost.
 */
function untilArrived(view: View, { sinceMs }: PendingCreate): Step | undefined {
  const arrivesMs = Math.max(arrivalMs(view, sinceMs), view.lostAtMs + graceMs);
  return view.nowMs < arrivesMs ? waiting(arrivesMs - view.nowMs) : undefined;
}

/** The last time at which a request that was sent at a time can arrive. */
export function arrivalMs({ endpoint }: View, sentMs: number): number {
  return sentMs + (endpoint?.timeoutMs ?? 0) + graceMs;
}

function waiting(ms: number): Step {
  const next = { kind: 'after', ms } as const;
  return settled(
    'CreatePending',
    'The answer to the create was lost, and it may still arrive',
    next,
  );
}

/** The API answered that nothing was created. */
function none(view: View, { record, pending, isRepeatable }: Recovery): Step {
  const { nowMs } = view;
  if (isRepeatable) return { kind: 'store', record: withoutPending(record) };
  const early = untilArrived(view, pending);
  if (early !== undefined) return early;
  const { nones = 0, noneAtMs = nowMs } = pending;
  if (nones === 0) {
    const asked = { ...pending, nones: 1, noneAtMs: nowMs };
    return { kind: 'store', record: { ...record, pending: asked } };
  }
  const againAtMs = noneAtMs + betweenMs;
  if (nowMs < againAtMs) return waiting(againAtMs - nowMs);
  return { kind: 'store', record: withoutPending(record) };
}
