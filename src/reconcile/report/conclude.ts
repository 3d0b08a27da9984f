import type { Outcome } from '../../controller/index.ts';
import type { AccessRight } from '../../kube/roles.ts';
import type { ChangedPath } from '../attempt/pace.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { observedPathChanged } from '../observe/observe-children.ts';
import { readAgain } from '../observe/observe-reads.ts';
import type { Pass } from '../pass/pass.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import { ofResource } from '../secrecy.ts';
import { differingPath, readChanged } from '../wake/object-change.ts';
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
  const isOvertaken = status.kind === 'overtaken';
  const next = pace.end({
    generation,
    nowMs,
    changed: isOvertaken ? undefined : changedSince(pass, status),
    hasWritten: did.hasWritten,
    hasWrittenStatus: status.kind === 'written',
    isOvertaken,
    isLimitExceeded: budget.isExceeded,
  });
  if (next.isFollowed) context.follow(pass.key);
  const outcome = concludeProblems(pass, report.problems, status);
  if (isOvertaken) return outcome;
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

/**
 * What a pass used and is different now: a status field of ours that something outside `status` reads, or an object that
 * was read. Undefined: nothing, so that no further pass is needed.
 */
function changedSince(pass: Pass, status: StatusOutcome): ChangedPath | undefined {
  const { statusPathsRead } = pass.context.plan;
  const written =
    status.kind === 'written'
      ? differingPath(pass.resource, status.stored.object, statusPathsRead)
      : undefined;
  if (written !== undefined) return { path: written.join('.'), isOurs: true };
  const { ownChange } = pass.did;
  if (ownChange !== undefined) return { path: ownChange, isOurs: true };
  for (const before of pass.found.reads.values()) {
    const path = readChanged(before, readAgain(pass, before));
    if (path !== undefined) {
      return { path: ['reads', before.plan.id, ...path].join('.'), isOurs: false };
    }
  }
  const observed = observedPathChanged(pass);
  return observed && { path: observed.join('.'), isOurs: pass.did.hasWritten };
}
