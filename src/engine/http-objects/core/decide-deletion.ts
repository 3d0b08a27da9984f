import { confirmAbsent } from './confirm-absent.ts';
import { endpointGate, settledDamaged } from './endpoint-gate.ts';
import { type FarRequest, type ObjectRecord, usesId, withId } from './record.ts';
import { arrivalMs, recover } from './recover.ts';
import { later, settled, settledFailure, settledMissingId } from './settle.ts';
import { failureIn, isBlocked, type Step, type View } from './view.ts';

/** Annotation that ends a deletion without a confirmation of the API. */
export const giveUpAnnotation = 'homeostat.dev/give-up';

/** What to do about an object that is being deleted. Needs no valid spec. */
export function decideDeletion(view: View, record: ObjectRecord | undefined): Step {
  const step = deletionStep(view, record);
  const { untilMs } = view.deletion;
  return step.kind === 'settle' && untilMs !== undefined
    ? boundedWait(step, untilMs - view.nowMs)
    : step;
}

/**
 * A namespace is not held for ever: its API, its credentials or the users who could decide may be deleted with it. Without an event, the
 * wait ends by itself.
 */
function boundedWait(step: Extract<Step, { readonly kind: 'settle' }>, ms: number): Step {
  const { state } = step;
  if (ms <= 0) return release(`Orphaned while the namespace is deleted: ${state.synced.reason}`);
  if (state.next.kind !== 'event' && state.next.kind !== 'look') return step;
  return { ...step, state: { ...state, next: { kind: 'after', ms } } };
}

function deletionStep(view: View, record: ObjectRecord | undefined): Step {
  const { approvals, deletion, endpoint } = view;
  if (approvals.givesUp) return release('Given up');
  if (record === undefined) return settledDamaged();
  if (!mayExist(record)) return release('Nothing to delete');
  if (deletion.policy === 'Orphan') return release('Orphaned');
  const answers = Object.values(view.seen.answers);
  const isGone =
    endpoint === undefined ||
    endpoint.blocked?.isGone === true ||
    answers.some((answer) => answer.kind === 'failed' && answer.failure.isGone === true);
  if (isGone && deletion.whenGone === 'Orphan') return release('Orphaned: the endpoint is missing');
  return endpointGate(view, record) ?? deleteFar(view, record);
}

/** Whether the record has an object of the API. */
export function mayExist({ isOwned, pending }: ObjectRecord): boolean {
  return isOwned === true || pending !== undefined;
}

/** Deletes the object of a record in the API. Releases only after the API has confirmed it. */
export function deleteFar(view: View, record: ObjectRecord): Step {
  const { identity, pending } = record;
  const { plan, seen } = view;
  if (identity === undefined || !mayExist(record)) return release('Nothing to delete');
  if (pending !== undefined) {
    const hasSecret = !isBlocked(plan) && plan.hasOneTimeSecret;
    return recover(view, { record, identity, pending, hasSecret, isRepeatable: false });
  }
  const owner = view.conflictOf('recorded');
  if (owner !== undefined) return release(`HttpObject "${owner}" manages it`);
  if (identity.delete === undefined) return release('There is no request that deletes it');
  const request = withId(identity.delete, identity.id);
  const observe = withId(identity.observe, identity.id);
  if (request === undefined || observe === undefined) return settledMissingId();
  if (seen.answers.delete === undefined) return { kind: 'send', role: 'delete', request };
  const failure = failureIn(seen, 'delete');
  if (failure !== undefined) return settledFailure({ ...failure, reason: 'DeleteFailed' });
  return confirmDeleted(view, observe);
}

function confirmDeleted(view: View, request: FarRequest): Step {
  const answer = view.seen.answers.observe;
  if (answer === undefined) return { kind: 'send', role: 'observe', request };
  if (answer.kind === 'failed')
    return settledFailure({ ...answer.failure, reason: 'DeleteFailed' });
  if (answer.kind === 'absent')
    return confirmAbsent(view) ?? untilLostArrived(view, request) ?? release('Deleted');
  return settled('Deleting', 'Waiting until the API has deleted the object', later);
}

/** A lost write of an object that its path names creates it, if it arrives after the deletion. */
function untilLostArrived(view: View, observe: FarRequest): Step | undefined {
  const { identity } = view.record ?? {};
  if (identity !== undefined && usesId(identity.observe)) return undefined;
  const ms = arrivalMs(view, view.lostAtMs) - view.nowMs;
  if (ms <= 0) return undefined;
  return settled(
    'Deleting',
    `An earlier request without an answer may still create "${observe.path}"`,
    { kind: 'after', ms },
  );
}

function release(note: string): Step {
  return { kind: 'release', note };
}
