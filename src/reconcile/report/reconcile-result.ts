import type { ReconcileResult } from '../../controller/index.ts';
import type { ChangedPath } from '../attempt/pace.ts';
import type { Problem } from '../failure.ts';
import { observedPathChanged } from '../observe/observe-children.ts';
import { readAgain } from '../observe/observe-reads.ts';
import type { OperatorContext } from '../pass/context.ts';
import { type Pass, problemOfResource } from '../pass/pass.ts';
import { maxDeferredMs, type StatusOutcome } from '../resource/write-status.ts';
import { differingPath, readChanged } from '../watch/object-change.ts';
import type { Report } from './build-report.ts';

/** See {@link delayOf}. */
const msPerSharer = 60_000;

/**
 * The result for the queue. Temporary errors are thrown: the queue retries them with growing delays. Permanent ones are retried after
 * `retry.permanent` or on an event of an informer. What waits is enqueued by an event.
 */
export function reconcileResult(
  pass: Pass,
  report: Report,
  status: StatusOutcome,
): ReconcileResult {
  const { state, context, resource, budget, effects } = pass;
  const { pace } = state.attempts;
  const { generation } = resource.metadata;
  const nowMs = context.clock.monotonicMs();
  const isSuperseded = status.kind === 'superseded';
  const next = pace.end({
    generation,
    nowMs,
    changed: isSuperseded ? undefined : changedSince(pass, status),
    hasWritten: effects.hasWritten,
    hasWrittenStatus: status.kind === 'written',
    isSuperseded: isSuperseded,
    isLimitExceeded: budget.isExceeded,
  });
  if (next.hasFollowUp) context.watches.queue.enqueueFollowUp(pass.key);
  const outcome = resultOfProblems(pass, report.problems, status);
  if (isSuperseded) return outcome;
  if (status.kind === 'deferred' && outcome.kind === 'done')
    return { kind: 'requeue', afterMs: maxDeferredMs, reason: 'ClusterUnreachable' };
  if (budget.isExceeded) {
    const afterMs = pace.limitPauseMs(generation, nowMs);
    return { kind: 'failed', afterMs, reason: 'LimitReached' };
  }
  return next.pause === undefined ? outcome : { kind: 'requeue', ...next.pause };
}

/** The result for the queue of these problems. @throws KubeError to be retried with growing delays */
export function resultOfProblems(
  pass: Pass,
  found: readonly Problem[],
  status: StatusOutcome,
): ReconcileResult {
  const { context, key } = pass;
  const problems =
    status.kind === 'failed' ? [...found, problemOfResource(pass, status.error)] : found;
  retainObstacles(context, key, problems);
  // Its own writes enqueue nothing: it has created the object after a request failed without it.
  if (problems.some((problem) => isResolved(pass, problem)))
    context.watches.queue.enqueueFollowUp(key);
  const temporary = problems.flatMap(({ error }) => error ?? []);
  // Unreachable first: these are retried as soon as the server is back, whatever else failed.
  const [toRetry] = [...temporary.filter(({ isUnreachable }) => isUnreachable), ...temporary];
  if (toRetry !== undefined) throw toRetry;
  return retryOf(context, problems);
}

/** Replaces what the requests of a resource fail for: when one of it ends, the resource is enqueued. */
export function retainObstacles(
  { rights, causes }: OperatorContext,
  key: string,
  problems: readonly Problem[],
): void {
  rights.retain(
    key,
    problems.flatMap(({ right }) => right ?? []),
  );
  causes.retain(
    key,
    problems.flatMap(({ cause }) => cause ?? []),
  );
}

/** Does the object exist by now that a request failed without? A temporary problem with an error is retried anyway. */
function isResolved({ context }: Pass, { missing, error }: Problem): boolean {
  return (
    missing !== undefined &&
    error === undefined &&
    context.watches.named.peek(missing) !== undefined
  );
}

/** The retry of problems that no event ends. */
function retryOf(context: OperatorContext, problems: readonly Problem[]): ReconcileResult {
  for (const { slowRetry, reason } of problems) {
    if (slowRetry !== undefined) return { kind: 'retry', ...slowRetry, reason };
  }
  const permanent = problems.filter(({ kind }) => kind === 'permanent');
  const [first] = permanent;
  if (first === undefined) return { kind: 'done' };
  const delays = permanent.map((problem) => problem.retryAfterMs ?? delayOf(context, problem));
  // Fields that belong to other managers are not a failure.
  const kind = permanent.every(({ isPartial }) => isPartial) ? 'requeue' : 'failed';
  return { kind, afterMs: Math.min(...delays), reason: first.reason };
}

/** Resources that fail for the same right or cause repeat their requests at most once a minute together. */
function delayOf({ plan, rights, causes }: OperatorContext, { right, cause }: Problem): number {
  const { permanentMs } = plan.definition.controller.retry;
  const sharers = Math.max(
    right === undefined ? 0 : rights.sharersOf(right),
    cause === undefined ? 0 : causes.sharersOf(cause),
  );
  return Math.max(permanentMs, (sharers - 1) * msPerSharer);
}

/**
 * An input of the pass that has changed since: one of our status fields that an expression outside `status` reads, or an object that was
 * read. Undefined: no further pass is needed.
 */
function changedSince(pass: Pass, status: StatusOutcome): ChangedPath | undefined {
  const { statusPathsRead } = pass.context.plan;
  const written =
    status.kind === 'written'
      ? differingPath(pass.resource, status.stored.object, statusPathsRead)
      : undefined;
  if (written !== undefined) return { path: written.join('.'), isOurs: true };
  const { ownPatchedField } = pass.effects;
  if (ownPatchedField !== undefined) return { path: ownPatchedField, isOurs: true };
  for (const before of pass.findings.reads.values()) {
    const path = readChanged(before, readAgain(pass, before));
    if (path !== undefined) {
      return { path: ['reads', before.plan.id, ...path].join('.'), isOurs: false };
    }
  }
  const observed = observedPathChanged(pass);
  return observed && { path: observed.join('.'), isOurs: pass.effects.hasWritten };
}
