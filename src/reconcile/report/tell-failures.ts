import { conditionsOf } from '../../util/conditions-of.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { type Given, loggerOf, type Pass } from '../pass/pass.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import { childText, ofResource } from '../secrecy.ts';
import type { Report } from './build-report.ts';
import type { ChildEntry } from './child-entries.ts';

/** Tells each failure once: an Event on the resource and a line in the log, when it begins or changes. */
export function tellFailures(
  pass: Pass,
  { entries, problems }: Pick<Report, 'entries' | 'problems'>,
  status: StatusOutcome,
): void {
  const failures = [
    ...entries.flatMap(failureOfEntry),
    ...failuresBesides(entries, problems),
    ...failureOfStatus(pass, status),
  ];
  const now = new Map<string, string>();
  const news = failures.filter((failure) => {
    const key = failure.subject === '' ? failure.message : failure.subject;
    now.set(key, wholeTextOf(failure));
    return !isTold(pass, key, failure);
  });
  report(pass, news);
  pass.state.told = now;
}

function failureOfEntry({ decision, about, problem }: ChildEntry): readonly Failure[] {
  if (problem === undefined || isUntold(problem)) return [];
  const { childId, name } = decision;
  const who = childText(childId, name, about);
  return [failureOf(problem, { subject: `${childId}/${name}`, who })];
}

function failuresBesides(
  entries: readonly ChildEntry[],
  problems: readonly Problem[],
): readonly Failure[] {
  const ofChildren = new Set(entries.map(({ problem }) => problem));
  return problems
    .filter((problem) => !ofChildren.has(problem) && !isUntold(problem))
    .map((problem) => failureOf(problem, { subject: '', who: '' }));
}

function failureOfStatus(pass: Pass, status: StatusOutcome): readonly Failure[] {
  if (status.kind !== 'failed') return [];
  const problem = problemOfRequest(status.error, { about: ofResource(pass.context.plan) });
  return [failureOf(problem, { subject: 'status', who: 'status' })];
}

function failureOf(
  { reason, message, error }: Problem,
  about: Pick<Failure, 'subject' | 'who'>,
): Failure {
  return { ...about, reason, message, isOutage: error?.isSilence === true };
}

function noteOf({ who, message }: Failure): string {
  return who === '' ? message : `${who}: ${message}`;
}

/** The same for all children that fail in this way. */
function textOf({ reason, message, isOutage }: Failure): string {
  return `${reason} ${isOutage} ${message}`;
}

function wholeTextOf(failure: Failure): string {
  return `${failure.reason} ${noteOf(failure)}`;
}

/** After a restart what the status says has been told: failures that last would be told anew with every start. */
function isTold({ state, resource }: Given, key: string, failure: Failure): boolean {
  if (state.told !== undefined) return state.told.get(key) === wholeTextOf(failure);
  const ready = conditionsOf(resource).find(({ type }) => type === 'Ready');
  return ready?.reason === failure.reason && String(ready.message).includes(noteOf(failure));
}

/** Nothing went wrong; and where a namespace goes, nothing can be made, Events neither. */
function isUntold({ reason }: Problem): boolean {
  return reason === 'Waiting' || reason === 'Terminating';
}

interface Failure {
  /** Empty: not one of a child. */
  readonly subject: string;
  /** The same for people. */
  readonly who: string;
  readonly reason: string;
  readonly message: string;
  /** There is no server: nothing that only this resource would have to tell. */
  readonly isOutage: boolean;
}

/** An Event and a log line name so many children; a pass has so many of each. */
const most = 10;

/** One Event and one line for all that fails for the same reason: a quota that is used up stops many children at once. */
function report(pass: Pass, failures: readonly Failure[]): void {
  const groups = [...Map.groupBy(failures, textOf).values()];
  for (const [first, ...others] of groups.slice(0, most)) {
    if (first !== undefined) reportOne(pass, { ...first, who: namesOf([first, ...others]) });
  }
  const left = groups.length - most;
  if (left > 0) loggerOf(pass).warn({ left }, 'Reconcile is blocked for more reasons');
}

function reportOne(pass: Pass, failure: Failure): void {
  const { cluster, plan } = pass.context;
  const { reason, isOutage } = failure;
  const note = noteOf(failure);
  loggerOf(pass)[isOutage ? 'debug' : 'warn']({ reason, detail: note }, 'Reconcile is blocked');
  if (isOutage) return;
  cluster.events.record({
    regarding: pass.resource,
    type: 'Warning',
    reason,
    action: 'Reconcile',
    note,
    definition: plan.name,
  });
}

function namesOf(failures: readonly Failure[]): string {
  const names = failures.map(({ who }) => who).filter((who) => who !== '');
  const left = names.length - most;
  const named = names.slice(0, most).join(', ');
  return left > 0 ? `${named} and ${left} more` : named;
}
