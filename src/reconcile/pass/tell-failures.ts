import { type Problem, problemOfRequest } from '../failure.ts';
import type { Report } from '../report/build-report.ts';
import type { ChildEntry } from '../report/child-entries.ts';
import { conditionsOf } from '../report/conditions.ts';
import type { StatusOutcome } from '../report/write-status.ts';
import { loggerOf, type Pass } from './pass.ts';
import { statusUsesSecret } from './secret-use.ts';

/** Tells each failure once: an Event on the resource and a line in the log, when it begins or changes. */
export function tellFailures(
  pass: Pass,
  { entries, problems }: Pick<Report, 'entries' | 'problems'>,
  status: StatusOutcome,
): void {
  const now = new Map<string, string>();
  for (const entry of entries) tellEntry(pass, entry, now);
  const ofChildren = new Set(entries.map(({ problem }) => problem));
  for (const problem of problems) {
    if (ofChildren.has(problem) || isUntold(problem)) continue;
    tell(pass, now, failureOf('', problem));
  }
  if (status.kind === 'failed') {
    const problem = problemOfRequest(status.error, { secret: statusUsesSecret(pass) });
    tell(pass, now, failureOf('status', problem, 'status: '));
  }
  pass.state.told = now;
}

function tellEntry(pass: Pass, { decision, problem }: ChildEntry, now: Map<string, string>): void {
  if (problem === undefined || isUntold(problem)) return;
  const { childId, name } = decision;
  const subject = `${childId}/${name}`;
  const prefix = `${name === '' ? childId : `${childId} "${name}"`}: `;
  tell(pass, now, failureOf(subject, problem, prefix));
}

function failureOf(subject: string, { reason, message, error }: Problem, prefix = ''): Failure {
  return { subject, reason, note: prefix + message, isOutage: error?.isSilence === true };
}

/** After a restart what the status says has been told: failures that last would be told anew with every start. */
function isTold(
  { state, resource }: Pass,
  key: string,
  { reason, note, text }: Pick<Failure, 'reason' | 'note'> & { readonly text: string },
): boolean {
  if (state.told !== undefined) return state.told.get(key) === text;
  const ready = conditionsOf(resource).find(({ type }) => type === 'Ready');
  return ready?.reason === reason && String(ready.message).includes(note);
}

/** Nothing went wrong; and where a namespace goes, nothing can be made, Events neither. */
function isUntold({ reason }: Problem): boolean {
  return reason === 'Waiting' || reason === 'Terminating';
}

interface Failure {
  readonly subject: string;
  readonly reason: string;
  readonly note: string;
  /** There is no server: nothing that only this resource would have to tell. */
  readonly isOutage: boolean;
}

function tell(pass: Pass, now: Map<string, string>, failure: Failure): void {
  const { subject, reason, note, isOutage } = failure;
  const key = subject === '' ? note : subject;
  const text = `${reason} ${note}`;
  now.set(key, text);
  if (isTold(pass, key, { reason, note, text })) return;
  loggerOf(pass)[isOutage ? 'debug' : 'warn']({ reason, detail: note }, 'Reconcile is blocked');
  if (isOutage) return;
  const { cluster, plan } = pass.context;
  cluster.events.record({
    regarding: pass.resource,
    type: 'Warning',
    reason,
    action: 'Reconcile',
    note,
    definition: plan.name,
  });
}
