import type { Outcome } from '../../controller/index.ts';
import type { AccessRight } from '../../kube/roles.ts';
import type { Problem } from '../failure.ts';
import { problemOfRequest } from '../failure.ts';
import type { Report } from '../report/build-report.ts';
import type { StatusOutcome } from '../report/write-status.ts';
import { ofResource } from '../secrecy.ts';
import { changedSince, isUnstable, noteFollowUp, unstableDelayMs } from './follow-up.ts';
import { remainingLimitRestMs } from './limit-rest.ts';
import type { Pass } from './pass.ts';
import { noteWrites, remainingRestMs, restUnstable } from './restraint.ts';

/**
 * What the queue is told. Temporary failures are thrown, so that they are tried again with growing delays; permanent ones
 * are looked at again after `retry.permanent`, or when an informer wakes the resource; what waits is woken.
 */
export function conclude(pass: Pass, report: Report, status: StatusOutcome): Outcome {
  const { state, context } = pass;
  // It has not come to rest yet, and another pass follows: nothing can be said of follow-ups.
  if (status.kind === 'overtaken') {
    if (pass.world.hasWritten) noteWrites(pass, status);
    return concludeProblems(pass, report.problems, status);
  }
  const changed = changedSince(pass, status);
  const wasUnstable = isUnstable(state);
  noteFollowUp(state, changed);
  // What has come to rest after all still says `Unstable`: one more pass takes that back.
  const writes = noteWrites(pass, status);
  const isOver = writes === 'released' || (wasUnstable && changed === undefined);
  const isHeld = isUnstable(state) || writes === 'restrained';
  if (isOver || (changed !== undefined && !isHeld)) context.follow(pass.key);
  if (changed !== undefined && isUnstable(state)) restUnstable(pass);
  const outcome = concludeProblems(pass, report.problems, status);
  if (pass.budget.isExceeded) {
    const afterMs = remainingLimitRestMs(state, pass.resource, context.clock);
    return { kind: 'failed', afterMs, reason: 'LimitReached' };
  }
  if (changed !== undefined && isUnstable(state)) {
    return { kind: 'requeue', afterMs: unstableDelayMs(state), reason: 'Unstable' };
  }
  if (writes === 'restrained') {
    const afterMs = remainingRestMs(state, pass.resource, context.clock);
    return { kind: 'requeue', afterMs, reason: 'Unstable' };
  }
  return outcome;
}

/** What the queue is told of what stands in the way. @throws KubeError what is tried again with growing delays. */
export function concludeProblems(
  pass: Pass,
  found: readonly Problem[],
  status: StatusOutcome,
): Outcome {
  const { context, key } = pass;
  const problems = [...found, ...statusProblems(pass, status)];
  context.rights.retain(key, rightsMissed(problems));
  const temporary = problems.flatMap(({ error }) => (error === undefined ? [] : [error]));
  // Silence first: what met it goes on as soon as the server is back, whatever else went wrong.
  const [toRetry] = [...temporary.filter(({ isSilence }) => isSilence), ...temporary];
  if (toRetry !== undefined) throw toRetry;
  return outcomeOf(problems, context.plan.definition.controller.retry);
}

function rightsMissed(problems: readonly Problem[]): readonly AccessRight[] {
  return problems.flatMap(({ right }) => (right === undefined ? [] : [right]));
}

/** What to do about problems that no event may tell the end of. */
function outcomeOf(
  problems: readonly Problem[],
  { permanentMs }: { readonly permanentMs: number },
): Outcome {
  for (const { slow, reason } of problems) {
    if (slow !== undefined) return { kind: 'retry', ...slow, reason };
  }
  const permanent = problems.filter(({ kind }) => kind === 'permanent');
  const [first] = permanent;
  if (first === undefined) return { kind: 'done' };
  const delays = permanent.map(({ againAfterMs }) => againAfterMs ?? permanentMs);
  // Where only some fields are others', nothing has failed.
  const kind = permanent.every(({ isPartial }) => isPartial) ? 'requeue' : 'failed';
  return { kind, afterMs: Math.min(...delays), reason: first.reason };
}

function statusProblems(pass: Pass, status: StatusOutcome): readonly Problem[] {
  return status.kind === 'failed'
    ? [problemOfRequest(status.error, { about: ofResource(pass.context.plan) })]
    : [];
}
