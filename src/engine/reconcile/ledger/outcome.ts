import type { Outcome } from '#controller';
import type { Problem } from '../failure.ts';
import { type LedgerContext, permanentMsOf } from './ledger.ts';
import type { Obstacles } from './obstacles.ts';

/** See {@link delayOf}. */
const msPerSharer = 60_000;

interface OutcomeContext {
  readonly context: LedgerContext['context'] & { readonly obstacles: Pick<Obstacles, 'sharersOf'> };
}

/**
 * The outcome of a reconcile with these problems. The queue retries temporary errors with growing delays. Permanent ones are retried after
 * `retry.permanent`, or earlier where the entry of a problem ends. What waits is enqueued by an event.
 */
export function outcomeOf(pass: OutcomeContext, problems: readonly Problem[]): Outcome {
  const temporary = problems.flatMap(({ error }) => error ?? []);
  // Unreachable first: these are retried as soon as the server is back, whatever else failed.
  const [error] = [...temporary.filter(({ isUnreachable }) => isUnreachable), ...temporary];
  if (error !== undefined) return { kind: 'error', error };
  for (const { slowRetry, reason } of problems)
    if (slowRetry !== undefined) return { kind: 'retry', ...slowRetry, reason };
  const permanent = problems.filter(({ kind }) => kind === 'permanent');
  const [first] = permanent;
  if (first === undefined) return { kind: 'done' };
  const delays = permanent.map((problem) => delayOf(pass, problem));
  // Fields that belong to other managers are not a failure.
  const kind = permanent.every(({ isPartial }) => isPartial) ? 'requeue' : 'failed';
  return { kind, afterMs: Math.min(...delays), reason: first.reason };
}

/** Resources that fail for the same right or cause repeat their requests at most once a minute together. */
function delayOf(pass: OutcomeContext, problem: Problem): number {
  const permanentMs = permanentMsOf(pass);
  const spreadMs = (pass.context.obstacles.sharersOf(problem) - 1) * msPerSharer;
  return (problem.retryAfterMs ?? permanentMs) + Math.max(0, spreadMs - permanentMs);
}
