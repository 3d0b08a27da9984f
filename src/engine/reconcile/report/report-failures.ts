import { conditionsOf } from '#util/kube-object.ts';
import type { Problem } from '../failure.ts';
import { emitEvent, loggerOf, type Pass, type PassInput, problemOfResource } from '../pass/pass.ts';
import { withoutAnyPlaces, withoutPlaces } from '../places.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import { childText } from '../secrecy.ts';
import { isForeign, statusOf } from '../status-fields.ts';
import type { Report } from './build-report.ts';
import type { ChildEntry } from './child-entries.ts';
import { emitOnce } from './emit-once.ts';

/** Reports each failure once, when it begins or changes: as an Event on the resource and a log line. */
export function reportFailures(
  pass: Pass,
  { entries, problems }: Pick<Report, 'entries' | 'problems'>,
  status: StatusOutcome,
): void {
  const failures = [
    ...entries.flatMap(failureOfEntry),
    ...otherFailures(entries, problems),
    ...failureOfStatus(pass, status),
  ];
  const current = new Map<string, string>();
  const changed = failures.filter((failure) => {
    const key = keyOf(pass, failure);
    current.set(key, textOf(pass, failure));
    return !isReported(pass, key, failure);
  });
  reportAll(pass, changed);
  pass.state.reportedFailures = current;
}

function failureOfEntry({ decision, about, problem }: ChildEntry): readonly Failure[] {
  if (problem === undefined || isExpected(problem)) return [];
  const { childId } = decision;
  const name = childText(childId, decision.name, about);
  return [failureOf(problem, { subject: `${childId}/${decision.name}`, name })];
}

function otherFailures(
  entries: readonly ChildEntry[],
  problems: readonly Problem[],
): readonly Failure[] {
  const ofChildren = new Set(entries.map(({ problem }) => problem));
  return problems
    .filter((problem) => !ofChildren.has(problem) && !isExpected(problem))
    .map((problem) => failureOf(problem, { subject: '', name: '' }));
}

function failureOfStatus(pass: Pass, status: StatusOutcome): readonly Failure[] {
  if (status.kind !== 'failed') return [];
  const problem = problemOfResource(pass, status.error);
  return [failureOf(problem, { subject: 'status', name: 'status' })];
}

function failureOf(
  { reason, message, error }: Problem,
  about: Pick<Failure, 'subject' | 'name'>,
): Failure {
  return { ...about, reason, message, isOutage: error?.isUnreachable === true };
}

function noteOf({ name, message }: Failure): string {
  return name === '' ? message : `${name}: ${message}`;
}

/** Equal for all children that fail in the same way. */
function groupKeyOf({ reason, message, isOutage }: Failure): string {
  return `${reason} ${isOutage} ${message}`;
}

function keyOf({ context }: PassInput, { subject, message }: Failure): string {
  return subject === '' ? withoutPlaces(message, context.plan.file) : subject;
}

/** Without places: a moved line is no new failure. */
function textOf({ context }: PassInput, failure: Failure): string {
  return `${failure.reason} ${withoutPlaces(noteOf(failure), context.plan.file)}`;
}

/** After a restart the status has the reported failures: otherwise lasting failures would be reported at every start. */
function isReported(pass: PassInput, key: string, failure: Failure): boolean {
  const { state, resource, context } = pass;
  if (state.reportedFailures !== undefined)
    return state.reportedFailures.get(key) === textOf(pass, failure);
  const ready = conditionsOf(resource).find(({ type }) => type === 'Ready');
  const { file } = context.plan;
  if (ready?.reason === failure.reason && hasText(ready.message, noteOf(failure), file))
    return true;
  // `Ready` has only the failures of its reason.
  const { children } = statusOf(resource);
  return (
    Array.isArray(children) &&
    children.some(
      (child) =>
        `${child.id}/${child.name}` === failure.subject &&
        child.state === 'Failed' &&
        hasText(child.message, failure.message, file),
    )
  );
}

/** Whether a text that was written before has the other one, wherever lines have moved since. */
function hasText(written: unknown, text: string, file: string | undefined): boolean {
  const before = String(written);
  return before.includes(text) || withoutAnyPlaces(before).includes(withoutPlaces(text, file));
}

/** Waiting is not a failure. In a terminating namespace nothing can be created, Events included. */
function isExpected({ reason }: Problem): boolean {
  return reason === 'Waiting' || reason === 'Terminating' || reason === 'ClusterUnreachable';
}

interface Failure {
  /** Key of the failing part; empty: not a child. */
  readonly subject: string;
  /** Name of the failing part, for people. */
  readonly name: string;
  readonly reason: string;
  readonly message: string;
  /** The server is unreachable: the runtime reports that, not each resource. */
  readonly isOutage: boolean;
}

/** Maximum number of names in an Event or log line, and of Events and log lines of a pass. */
const maxNames = 10;

/** Emits one Event and log line for all failures with the same cause: an exhausted quota blocks many children. */
function reportAll(pass: Pass, failures: readonly Failure[]): void {
  const groups = [...Map.groupBy(failures, groupKeyOf).values()];
  for (const [first, ...others] of groups.slice(0, maxNames)) {
    if (first !== undefined) reportOne(pass, { ...first, name: namesOf([first, ...others]) });
  }
  const left = groups.length - maxNames;
  if (left > 0) loggerOf(pass).warn({ left }, 'Reconcile is blocked for more reasons');
}

function reportOne(pass: Pass, failure: Failure): void {
  const { reason, isOutage } = failure;
  const note = noteOf(failure);
  loggerOf(pass)[isOutage ? 'debug' : 'warn']({ reason, detail: note }, 'Reconcile is blocked');
  if (isOutage) return;
  const emit = isForeign(pass.context.plan) ? emitOnce : emitEvent;
  emit(pass, { type: 'Warning', reason, note });
}

function namesOf(failures: readonly Failure[]): string {
  const names = failures.map(({ name }) => name).filter((name) => name !== '');
  const left = names.length - maxNames;
  const named = names.slice(0, maxNames).join(', ');
  return left > 0 ? `${named} and ${left} more` : named;
}
