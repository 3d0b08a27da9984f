import type { KubeError, StoredObject } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Problem } from '../failure.ts';
import { topicOfRef } from '../identity.ts';
import { type Intent, isSameIntent } from '../intent/intent.ts';
import type { PassDependencies } from '../watch/dependency-index.ts';
import {
  isChanged,
  isReplaced,
  metadataChanged,
  type ReadObservation,
  readChanged,
} from '../watch/object-change.ts';
import type { ApplyRejection, Rejection, StatusRejection } from './entries.ts';
import { type LedgerContext, permanentMsOf, remainingMs } from './ledger.ts';
import {
  type AppliedIntent,
  type ConflictContext,
  ownershipConflict,
} from './ownership-conflicts.ts';

/** Minimum time between retries of a rejected intent because other managers changed the object; doubles with each rejection. */
const changeRetryMs = 5_000;

/** The inputs of an apply besides its intent. */
interface ApplyContext extends ConflictContext {
  readonly resource: KubeObject;
  readonly findings: { readonly reads: ReadonlyMap<string, ReadObservation> };
  readonly dependencies: Pick<PassDependencies, 'missing'>;
}

/**
 * Why an object cannot be applied now, with the time of the retry; undefined: it can. The server rejected this very apply, or other
 * managers repeatedly overwrite the fields that it would revert.
 */
export async function applyBlocker(
  pass: ApplyContext,
  desired: AppliedIntent,
  live: StoredObject | undefined,
): Promise<Problem | undefined> {
  const rejected = repeatedRejection(pass, desired.intent, live);
  if (rejected !== undefined || live === undefined) return rejected;
  return ownershipConflict(pass, desired, live);
}

/**
 * The rejection that this apply would repeat. It is not repeated until the intent, the object, the resource's metadata or a read changes,
 * a missing right is granted, or `retry.permanent` ends (docs/definition/controller.md#failures-and-retries). An exhausted quota is retried
 * sooner, and an object that keeps changing later and later.
 */
function repeatedRejection(
  pass: ApplyContext,
  intent: Intent,
  live: StoredObject | undefined,
): Problem | undefined {
  const rejection = pass.state.ledger.get('rejected', intent.identity);
  if (rejection === undefined) return undefined;
  const hasSameInputs =
    isSameIntent(rejection.intent, intent) &&
    isSameResource(pass, rejection) &&
    areSameReads(pass, rejection);
  if (!hasSameInputs) {
    forgetRejection(pass, intent);
    return undefined;
  }
  if (remainingMs(pass, rejection) === 0) return undefined;
  const problem = unlessObjectChanged(pass, rejection, live);
  return problem?.missing === undefined ? problem : whileMissing(pass, problem);
}

/** The problem while the object does not exist that the request needs. Its creation enqueues the resource. */
function whileMissing(pass: ApplyContext, problem: Problem): Problem | undefined {
  const watched = watchMissing(pass, problem);
  return watched.kind === 'found' ? undefined : watched.problem;
}

/**
 * Watches the object that a request needs. Without a watch on it, the request is repeated with growing delays.
 * `found`: it exists by now.
 */
export function watchMissing(
  { dependencies }: Pick<ApplyContext, 'dependencies'>,
  problem: Problem,
): { readonly kind: 'found' } | { readonly kind: 'watched'; readonly problem: Problem } {
  const { missing } = problem;
  if (missing === undefined) return { kind: 'watched', problem };
  const watch = dependencies.missing(missing);
  if (watch?.stored !== undefined) return { kind: 'found' };
  if (watch !== undefined && watch.state.kind !== 'failing') return { kind: 'watched', problem };
  return { kind: 'watched', problem: { ...problem, cause: `missing ${topicOfRef(missing)}` } };
}

/** Call when the server accepts the intent, or the object is as desired without an apply. */
export function forgetRejection({ state }: Pick<LedgerContext, 'state'>, intent: Intent): void {
  state.ledger.delete('rejected', intent.identity);
}

/** A change of the object by another manager may resolve the rejection, or be part of an ownership conflict: retries are spaced out. */
function unlessObjectChanged(
  pass: ApplyContext,
  rejection: ApplyRejection,
  live: StoredObject | undefined,
): Problem | undefined {
  const { problem, live: before, ifChanged } = rejection;
  const change = { old: before, current: live };
  if (!isChanged(change, [])) return { ...problem, retryAfterMs: remainingMs(pass, rejection) };
  const retryAfterMs = remainingMs(pass, ifChanged);
  return isReplaced(change) || retryAfterMs === 0 ? undefined : { ...problem, retryAfterMs };
}

interface FailedApply {
  readonly error: KubeError;
  readonly problem: Problem;
  readonly live: StoredObject | undefined;
}

/**
 * Stores the rejection of an apply that only a changed input, another object or time can resolve.
 * @returns the problem as it is to be reported
 */
export function recordRejection(
  pass: ApplyContext,
  intent: Intent,
  { error, problem: found, live }: FailedApply,
): Problem {
  const watched = watchMissing(pass, found);
  // The object that the server misses is in the cache: the server or the cache lags behind.
  if (watched.kind === 'found') return { ...found, error };
  const { problem } = watched;
  const rejection = rejectionOf(pass, problem);
  if (rejection === undefined) return problem;
  const { resource, findings, state, context } = pass;
  const before = state.ledger.get('rejected', intent.identity);
  const retryMs =
    before === undefined
      ? changeRetryMs
      : Math.min(2 * before.changeRetryMs, Math.max(changeRetryMs, permanentMsOf(pass)));
  const entry = {
    ...rejection,
    intent,
    live,
    resource,
    reads: new Map(findings.reads),
    ifChanged: { untilMs: context.clock.monotonicMs() + retryMs },
    changeRetryMs: retryMs,
  };
  state.ledger.set('rejected', entry, intent.identity);
  return problem;
}

/** Why an object cannot be deleted now: the server rejected it, until a right is granted or `retry.permanent` ends. */
export function deletionBlocker(pass: LedgerContext, uid: string): Problem | undefined {
  const rejection = pass.state.ledger.get('deletionRejected', uid);
  if (rejection === undefined) return undefined;
  const retryAfterMs = remainingMs(pass, rejection);
  return retryAfterMs === 0 ? undefined : { ...rejection.problem, retryAfterMs };
}

export function recordDeletionRejection(pass: LedgerContext, uid: string, problem: Problem): void {
  const rejection = rejectionOf(pass, problem);
  if (rejection !== undefined) pass.state.ledger.set('deletionRejected', rejection, uid);
}

/** The rejection of these status fields. The same fields are not sent again before `retry.permanent` has passed. */
export function statusBlocker(pass: LedgerContext, digest: string): StatusRejection | undefined {
  const rejection = pass.state.ledger.get('statusRejected');
  if (rejection === undefined) return undefined;
  const retryAfterMs = remainingMs(pass, rejection);
  if (retryAfterMs === 0 || rejection.digest !== digest) return undefined;
  // An event may run the resource before: then the rest of the time is left.
  return { ...rejection, problem: { ...rejection.problem, retryAfterMs } };
}

/** A rejection of status fields, to be stored once the rest of the status is written. */
export function statusRejection(
  pass: LedgerContext,
  digest: string,
  problem: Problem,
): StatusRejection {
  const untilMs = pass.context.clock.monotonicMs() + permanentMsOf(pass);
  return { digest, problem, untilMs };
}

/** Undefined: it may be retried at any time. */
function rejectionOf(pass: LedgerContext, problem: Problem): Rejection | undefined {
  const isEnqueued = problem.missing !== undefined || problem.cause !== undefined;
  const lengthMs =
    problem.error === undefined && (problem.kind === 'permanent' || isEnqueued)
      ? permanentMsOf(pass)
      : problem.slowRetry?.baseDelayMs;
  if (lengthMs === undefined) return undefined;
  return { problem, untilMs: pass.context.clock.monotonicMs() + lengthMs };
}

function isSameResource({ resource }: ApplyContext, before: ApplyRejection): boolean {
  return (
    resource.metadata.generation === before.resource.metadata.generation &&
    !metadataChanged(before.resource, resource)
  );
}

function areSameReads({ findings: { reads } }: ApplyContext, before: ApplyRejection): boolean {
  if (reads.size !== before.reads.size) return false;
  for (const [id, now] of reads) {
    const then = before.reads.get(id);
    if (then === undefined || readChanged(then, now) !== undefined) return false;
  }
  return true;
}
