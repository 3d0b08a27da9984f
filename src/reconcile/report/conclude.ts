import type { Outcome } from '../../controller/index.ts';
import type { AccessRight } from '../../kube/roles.ts';
import type { Problem } from '../failure.ts';
import { problemOfRequest } from '../failure.ts';
import { changedSince } from '../observe/changed-since.ts';
import type { Pass } from '../pass/pass.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import { ofResource } from '../secrecy.ts';
import type { Report } from './build-report.ts';

/**
 * What the queue is told. Temporary failures are thrown, so that they are tried again with growing delays; permanent ones
 * are looked at again after `retry.permanent`, or when an informer wakes the resource; what waits is woken.
 */
export function conclude(pass: Pass, report: Report, status: StatusOutcome): Outcome {
  const { state, context, resource, budget, did } = pass;
  const { pace } = state.attempts;
  const { generation } = resource.metadata;
  const nowMs = context.clock.monotonicMs();
  pace.noteLimit(budget.isExceeded, { generation, nowMs });
  const { hasWritten } = did;
  const end = { hasWritten, hasWrittenStatus: status.kind === 'written', nowMs };
  // It has not come to rest yet, and another pass follows: nothing can be said of follow-ups.
  if (status.kind === 'overtaken') {
    if (hasWritten) pace.noteWrites(end);
    return concludeProblems(pass, report.problems, status);
  }
  const next = pace.end({ ...end, changed: changedSince(pass, status) }, generation);
  if (next.isFollowed) context.follow(pass.key);
  const outcome = concludeProblems(pass, report.problems, status);
  if (budget.isExceeded) {
    const afterMs = pace.limitRestMs(generation, nowMs);
    return { kind: 'failed', afterMs, reason: 'LimitReached' };
  }
  return next.rest === undefined ? outcome : { kind: 'requeue', ...next.rest };
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
