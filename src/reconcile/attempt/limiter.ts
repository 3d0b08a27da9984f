import type { StoredObject } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Problem } from '../failure.ts';
import type { Intent } from '../intent/intent.ts';
import { intentHashOf } from '../intent/marks.ts';
import {
  isChanged,
  isReplaced,
  metadataChanged,
  type ReadSight,
  readChanged,
} from '../wake/object-change.ts';
import type { ApplyRejection, Attempting, Rejection, StatusRejection } from './attempt-ledger.ts';
import { type Contesting, contested, type Defended } from './ownership-conflicts.ts';

/** A timer may fire that much too early; the pass that it starts must not be one in vain. */
const timerErrorMs = 20;
/** So often at most a change of the object by others has its intent sent again. */
const othersGapMs = 5_000;
/** For one intent an object is replaced so often at most because the server calls a field immutable: a webhook may write that field anew each time. */
const replacedOnceInMs = 600_000;

/** What an apply depends on besides its intent. */
export interface Applying extends Contesting {
  readonly resource: KubeObject;
  readonly found: { readonly reads: ReadonlyMap<string, ReadSight> };
}

/**
 * May an object be applied now? What stands against it, with the time after which it may be tried; undefined: it may. The server has
 * rejected this very apply, or other managers change what it would revert, again and again.
 */
export async function whyNotApply(
  pass: Applying,
  wanted: Defended,
  live: StoredObject | undefined,
): Promise<Problem | undefined> {
  if (pass.state.attempts.of(wanted.intent) === undefined) return undefined;
  const rejected = rejectedApply(pass, wanted.intent, live);
  if (rejected !== undefined || live === undefined) return rejected;
  return contested(pass, wanted, live);
}

/**
 * Has the server rejected this very apply? It is not repeated until the intent, the object, the resource's own metadata or a read
 * changes, a missing right is granted, or `retry.permanent` is over (definition.md section 6); a quota and the like sooner.
 */
function rejectedApply(
  pass: Applying,
  intent: Intent,
  live: StoredObject | undefined,
): Problem | undefined {
  const { attempts } = pass.state;
  const rejection = attempts.of(intent)?.rejection;
  if (rejection === undefined) return undefined;
  const isSame =
    !isOver(pass, rejection) &&
    rejection.intent.pathHash === intent.pathHash &&
    deepEqual(rejection.intent.manifest, intent.manifest) &&
    isSameResource(pass, rejection) &&
    areSameReads(pass, rejection);
  const problem = isSame ? unlessCured(pass, rejection, live) : undefined;
  if (problem === undefined) attempts.note(intent, { rejection: undefined });
  return problem;
}

/** What others do to the object may be the cure, or part of an ownership conflict: then it is not repeated with each of their writes. */
function unlessCured(
  { context }: Applying,
  { problem, live: before, atMs }: ApplyRejection,
  live: StoredObject | undefined,
): Problem | undefined {
  const change = { old: before, current: live };
  if (!isChanged(change, [])) return problem;
  const againAfterMs = atMs + othersGapMs - context.clock.monotonicMs();
  return isReplaced(change) || againAfterMs <= 0 ? undefined : { ...problem, againAfterMs };
}

/** Remembers the rejection of an apply that only another input or some time mends. */
export function noteRejected(
  pass: Applying,
  intent: Intent,
  { problem, live }: { readonly problem: Problem; readonly live: StoredObject | undefined },
): void {
  const rejection = rejectionOf(pass, problem);
  if (rejection === undefined) return;
  const {
    resource,
    found: { reads },
  } = pass;
  pass.state.attempts.note(intent, {
    rejection: { ...rejection, intent, live, resource, reads: new Map(reads) },
  });
}

/** May an object be deleted now? Not while the server has rejected that for good, until a right is granted or `retry.permanent` is over. */
export function whyNotDelete(pass: Attempting, uid: string): Problem | undefined {
  const rejection = pass.state.attempts.deletionOf(uid);
  return rejection === undefined || isOver(pass, rejection) ? undefined : rejection.problem;
}

export function noteRejectedDeletion(pass: Attempting, uid: string, problem: Problem): void {
  const rejection = rejectionOf(pass, problem);
  if (rejection !== undefined) pass.state.attempts.noteDeletion(uid, rejection);
}

/** May these status fields of the author's be written now? Not while the server has rejected them, until `retry.permanent` is over. */
export function whyNotStatus(pass: Attempting, digest: string): StatusRejection | undefined {
  const { rejection } = pass.state.attempts.status;
  if (rejection === undefined) return undefined;
  const againAfterMs = rejection.untilMs - pass.context.clock.monotonicMs();
  if (againAfterMs <= 0 || rejection.digest !== digest) return undefined;
  // What is left, and not all of it: a timer that fires too early is followed by a short one.
  return { ...rejection, problem: { ...rejection.problem, againAfterMs } };
}

/** A rejection of status fields, to be kept once the rest of the status is written. */
export function statusRejection(
  { context }: Attempting,
  digest: string,
  problem: Problem,
): StatusRejection {
  const atMs = context.clock.monotonicMs();
  return { digest, problem, atMs, untilMs: atMs + permanentMsOf({ context }) };
}

/** May an object be deleted and created anew for this intent now? Notes that it is, if so. */
export function mayReplace(
  { context, state }: Attempting,
  { intent, intentHash, live }: Replacing,
): boolean {
  const { attempts } = state;
  const nowMs = context.clock.monotonicMs();
  const last = attempts.of(intent)?.replacement;
  if (last?.intentHash === intentHash && nowMs - last.atMs < replacedOnceInMs) return false;
  // Was it made of this very intent a moment ago? So it is known also to a new process.
  const madeMs = Date.parse(live.object.metadata.creationTimestamp ?? '');
  const isYoung = context.clock.nowMs() - madeMs < replacedOnceInMs;
  if (isYoung && intentHashOf(live.object) === intentHash) return false;
  attempts.note(intent, { replacement: { intentHash, atMs: nowMs } });
  return true;
}

export interface Replacing {
  readonly intent: Intent;
  readonly intentHash: string;
  readonly live: StoredObject;
}

/** Undefined: it may be tried again at any time. */
function rejectionOf(pass: Attempting, problem: Problem): Rejection | undefined {
  const lengthMs = problem.kind === 'permanent' ? permanentMsOf(pass) : problem.slow?.firstMs;
  if (lengthMs === undefined) return undefined;
  const atMs = pass.context.clock.monotonicMs();
  return { problem, atMs, untilMs: atMs + lengthMs };
}

function permanentMsOf({ context }: Pick<Attempting, 'context'>): number {
  return context.plan.definition.controller.retry.permanentMs;
}

function isOver({ context }: Attempting, { untilMs }: Rejection): boolean {
  return context.clock.monotonicMs() + timerErrorMs >= untilMs;
}

function isSameResource({ resource }: Applying, before: ApplyRejection): boolean {
  return (
    resource.metadata.generation === before.resource.metadata.generation &&
    !metadataChanged(before.resource, resource)
  );
}

function areSameReads({ found: { reads } }: Applying, before: ApplyRejection): boolean {
  if (reads.size !== before.reads.size) return false;
  for (const [id, now] of reads) {
    const then = before.reads.get(id);
    if (then === undefined || readChanged(then, now) !== undefined) return false;
  }
  return true;
}
