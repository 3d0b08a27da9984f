import type { Outcome } from '#controller';
import type { Problem } from '../failure.ts';
import { remainingMs } from '../ledger/ledger.ts';
import { outcomeOf } from '../ledger/outcome.ts';
import { type ChangedPath, endOfPass } from '../ledger/pace.ts';
import { observedPathChanged } from '../observe/observe-children.ts';
import { readAgain } from '../observe/observe-reads.ts';
import { type Pass, problemOfResource } from '../pass/pass.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import { differingPath, readChanged } from '../watch/object-change.ts';
import type { Report } from './build-report.ts';

/** The outcome of a pass: of its problems, and of how often the resource runs. */
export function outcomeOfPass(pass: Pass, report: Report, status: StatusOutcome): Outcome {
  const { state, context, resource, budget, effects } = pass;
  const isSuperseded = status.kind === 'superseded';
  const next = endOfPass(state.ledger, {
    generation: resource.metadata.generation,
    nowMs: context.clock.monotonicMs(),
    changed: isSuperseded ? undefined : changedSince(pass, status),
    hasWritten: effects.hasWritten,
    hasWrittenStatus: status.kind === 'written',
    isSuperseded,
    isLimitExceeded: budget.isExceeded,
  });
  if (next.followUp !== undefined) pass.again(next.followUp);
  const outcome = outcomeOfProblems(pass, report.problems, status);
  if (isSuperseded || outcome.kind === 'error') return outcome;
  const deferred = state.ledger.get('deferred');
  if (status.kind === 'deferred' && deferred !== undefined && outcome.kind === 'done')
    return { kind: 'requeue', afterMs: remainingMs(pass, deferred), reason: 'ClusterUnreachable' };
  return next.pause ?? outcome;
}

/** The outcome of these problems, and of the status write. What they fail for enqueues the resource when it ends. */
export function outcomeOfProblems(
  pass: Pass,
  found: readonly Problem[],
  status: StatusOutcome,
): Outcome {
  const { context, key } = pass;
  const problems =
    status.kind === 'failed' ? [...found, problemOfResource(pass, status.error)] : found;
  context.obstacles.retain(key, problems);
  // Its own writes enqueue nothing: it has created the object after a request failed without it.
  if (problems.some((problem) => isResolved(pass, problem))) pass.again('object-exists');
  return outcomeOf(pass, problems);
}

/** Does the object exist by now that a request failed without? A temporary problem with an error is retried anyway. */
function isResolved({ context }: Pass, { missing, error }: Problem): boolean {
  return (
    missing !== undefined &&
    error === undefined &&
    context.watches.named.peek(missing) !== undefined
  );
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
