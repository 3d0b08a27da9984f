import type { RenderedEvent } from '#compile';
import type { KubeError } from '#kube/roles.ts';
import { canonicalJson } from '#util/canonical-json.ts';
import type { Condition } from '#util/condition.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { sha256Hex } from '#util/sha256.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import type { StatusRejection } from '../ledger/entries.ts';
import { limitBackoffText } from '../ledger/pace.ts';
import { statusBlocker, statusRejection } from '../ledger/rejections.ts';
import { inventoryAfter } from '../ownership/maintain-inventory.ts';
import { emitEvent, type Pass, problemOfResource } from '../pass/pass.ts';
import { shorter, untilScheduled, untilTimeChange } from '../pass/time-changes.ts';
import {
  type StatusOutcome,
  writeStatus,
  writeStatusUnlessSuperseded,
} from '../resource/write-status.ts';
import { isForeign } from '../status-fields.ts';
import { type ChildEntry, describeChildren } from './child-entries.ts';
import { authorConditions, standardConditions } from './conditions.ts';
import {
  lastMapped,
  type MappedStatus,
  mapStatus,
  type ReportingContext,
  startReporting,
  startReportPhase,
} from './map-status.ts';
import { type Summary, type SummaryReason, summarise } from './summary.ts';

/** Maximum length of `status.children`; `status.childCounts` counts all. */
const maxListedChildren = 100;
/** Minimum of `requeueAfter`: the value may come from the resource. */
const shortestRequeueMs = 1_000;

/** The report of a pass: the complete status to write, and its parts. */
export interface Report {
  readonly entries: readonly ChildEntry[];
  readonly mapped: MappedStatus;
  /** Conditions of the definition's author. */
  readonly conditions: readonly Condition[];
  /** Problems of conditions, patches, Events and `requeueAfter`. */
  readonly furtherProblems: readonly Problem[];
  /** To be emitted once the status is written. */
  readonly events: readonly RenderedEvent[];
  /** Until it runs again: after `requeueAfter`, at its schedule, or because a result changes with the time. @default undefined: no requeue */
  readonly requeueAfterMs?: number;
  /** All problems, of children and of the rest. */
  readonly problems: readonly Problem[];
  /** Reason and message of the condition `Ready`. */
  readonly reason: SummaryReason;
  readonly message: string;
  readonly status: Readonly<Record<string, unknown>>;
}

/** Builds the report from the cluster state after the applies. Sends nothing but what features do. */
export async function buildReport(pass: Pass): Promise<Report> {
  const reporting = startReporting(pass);
  const entries = await describeChildren(pass, reporting.phase);
  const mapped = await mapStatus(pass, reporting);
  const { conditions, problems } = await authorConditions(pass, reporting, mapped);
  const parts = { entries, mapped, conditions, furtherProblems: problems, events: [] };
  const report = await withReactions(pass, reporting, reportOf(pass, parts));
  const wanted = shorter(report.requeueAfterMs, untilScheduled(pass));
  const requeueAfterMs = shorter(
    wanted === undefined ? undefined : Math.max(wanted, shortestRequeueMs),
    untilTimeChange(pass),
  );
  return requeueAfterMs === undefined ? report : { ...report, requeueAfterMs };
}

/** Lets features react, and adds Events and `requeueAfter` to the report. */
async function withReactions(
  pass: Pass,
  reporting: ReportingContext,
  report: Report,
): Promise<Report> {
  const { reporting: plan } = pass.context.plan;
  if (!reporting.isComplete) return report;
  const startPhase = ({ status }: Report) =>
    plan && startReportPhase(pass, plan, { reporting, status });
  let complete = report;
  let isPending = false;
  for (const feature of pass.features) {
    if (feature.react === undefined) continue;
    const reaction = await feature.react(pass, startPhase(complete));
    isPending ||= reaction.isPending;
    if (reaction.problems.length > 0) complete = withProblems(pass, complete, reaction.problems);
  }
  if (isPending) complete = withLastMapped(pass, complete);
  const phase = startPhase(complete);
  if (phase === undefined || plan === undefined) return complete;
  if (!plan.hasEvents && !plan.hasRequeueAfter && !plan.hasSchedule) return complete;
  const { events, failures } = await phase.events();
  const requeue = await phase.requeueAfter();
  const scheduled = await phase.schedule();
  // An incomplete report leaves it as it was.
  pass.state.schedule = scheduled.kind === 'value' ? scheduled.value : undefined;
  const failed = [requeue, scheduled].flatMap((each) =>
    each.kind === 'failed' ? [each.failure] : [],
  );
  return withProblems(
    pass,
    {
      ...complete,
      events: isPending ? [] : events,
      ...(requeue.kind === 'value' && { requeueAfterMs: requeue.value }),
    },
    [...failures, ...failed].map(problemOfRender),
  );
}

function withProblems(pass: Pass, report: Report, problems: readonly Problem[]): Report {
  return reportOf(pass, { ...report, furtherProblems: [...report.furtherProblems, ...problems] });
}

/** The report while the author's fields keep their last values, for example because the server rejects them (`why`). */
function withLastMapped(pass: Pass, report: Report, ...why: readonly Problem[]): Report {
  const problems = [...report.mapped.problems, ...why];
  const mapped = { fields: lastMapped(pass), problems };
  // The Events would report a status that was not written.
  return reportOf(pass, { ...report, mapped, events: [] });
}

/** Assembles a report from its parts. */
function reportOf(
  pass: Pass,
  parts: Omit<Report, 'problems' | 'reason' | 'message' | 'status'>,
): Report {
  const { entries, mapped, conditions, furtherProblems } = parts;
  const { finalizerProblem, outdatedProblem } = pass.effects;
  const problems = [
    ...[...pass.findings.reads.values()].flatMap(({ problem }) => problem ?? []),
    ...pass.features.flatMap((feature) => feature.problems?.(pass) ?? []),
    ...[finalizerProblem, outdatedProblem].flatMap((problem) => problem ?? []),
    ...mapped.problems,
    ...furtherProblems,
  ];
  const summary = summariseWithBackoff(pass, entries, problems);
  const { resource, context } = pass;
  const listed = entries.filter(({ isListed }) => isListed);
  return {
    ...parts,
    problems: [...problems, ...entries.flatMap(({ problem }) => problem ?? [])],
    reason: summary.reason,
    message: summary.message,
    status: isForeign(context.plan)
      ? { ...mapped.fields, ...(conditions.length === 0 ? {} : { conditions }) }
      : {
          ...mapped.fields,
          observedGeneration: resource.metadata.generation ?? 0,
          definitionRevision: context.plan.revision,
          conditions: [...standardConditions(pass, summary), ...conditions],
          children: listChildren(listed),
          childCounts: countChildren(listed),
          ...inventoryFields(pass),
        },
  };
}

/** Adds the delay of a resource that exceeded its limits to the message: no other field shows it. */
function summariseWithBackoff(
  { state, budget }: Pass,
  entries: readonly ChildEntry[],
  problems: readonly Problem[],
): Summary {
  const summary = summarise(entries, problems, state.ledger.pace?.instability);
  return budget.isExceeded
    ? { ...summary, message: `${summary.message}; ${limitBackoffText}` }
    : summary;
}

function inventoryFields(pass: Pass): { readonly childInventory?: readonly string[] } {
  const childInventory = inventoryAfter(pass);
  return childInventory === undefined ? {} : { childInventory };
}

/** `status.children`. */
export function listChildren(entries: readonly ChildEntry[]): readonly unknown[] {
  const isReady = ({ decision }: ChildEntry) => decision.state === 'Ready';
  const unreadyFirst = [...entries.filter((entry) => !isReady(entry)), ...entries.filter(isReady)];
  return unreadyFirst.slice(0, maxListedChildren).map(({ decision }) => {
    const { childId: id, apiVersion, kind, cluster, state, message } = decision;
    const { isNameless = false } = decision;
    const { namespace, name } = isNameless ? noName : decision;
    const place = cluster === undefined || isNameless ? {} : { cluster };
    return { id, apiVersion, kind, ...place, namespace, name, state, message };
  });
}

const noName = { namespace: '', name: '' };

/** `status.childCounts`. */
export function countChildren(entries: readonly ChildEntry[]) {
  const wanted = entries.filter(({ decision }) => decision.state !== 'Deleting');
  const inState = (state: string) =>
    wanted.filter(({ decision }) => decision.state === state).length;
  return { total: wanted.length, ready: inState('Ready'), failed: inState('Failed') };
}

/** The final report and the result of its status write. */
interface ReportOutcome {
  readonly report: Report;
  readonly status: StatusOutcome;
}

/**
 * Writes the status. The server rejects the whole status for one invalid field: then it is written again with the previous values of the
 * author's fields, and `Ready` has the error. The rejected fields are not sent again before `retry.permanent`.
 */
export async function writeReport(pass: Pass, report: Report): Promise<ReportOutcome> {
  const known = knownRejection(pass, report);
  if (known !== undefined) return reportRejection(pass, report, known);
  pass.state.ledger.delete('statusRejected');
  const status = await writeStatusUnlessSuperseded(pass, report.status);
  if (!isRejected(status) || !hasMappedChanges(pass, report)) return { report, status };
  const rejection = rejectionOf(pass, report, status.error);
  const reported = await reportRejection(pass, report, rejection);
  // Rejected again: the author's fields are not the only cause.
  return isRejected(reported.status) ? { report, status } : reported;
}

/** The rejection that a write of these fields would repeat. */
function knownRejection(pass: Pass, report: Report): StatusRejection | undefined {
  const isKnown = pass.state.ledger.get('statusRejected') !== undefined;
  return isKnown && hasMappedChanges(pass, report)
    ? statusBlocker(pass, digestOf(report))
    : undefined;
}

async function reportRejection(
  pass: Pass,
  report: Report,
  rejection: StatusRejection,
): Promise<ReportOutcome> {
  const reported = withLastMapped(pass, report, rejection.problem);
  const status = await writeStatus(pass, reported.status);
  const isAccepted = !isRejected(status);
  if (isAccepted) pass.state.ledger.set('statusRejected', rejection);
  else pass.state.ledger.delete('statusRejected');
  return { report: isAccepted ? reported : report, status };
}

function rejectionOf(pass: Pass, report: Report, error: KubeError): StatusRejection {
  return statusRejection(pass, digestOf(report), problemOfResource(pass, error, 'status'));
}

/** Do the author's fields differ from those in the status? */
function hasMappedChanges(pass: Pass, { mapped }: Report): boolean {
  return !deepEqual(mapped.fields, lastMapped(pass));
}

function isRejected(status: StatusOutcome): status is Extract<StatusOutcome, { kind: 'failed' }> {
  if (status.kind !== 'failed' || !status.error.isPermanent) return false;
  return status.error.code === 'rejected' || status.error.code === 'denied';
}

function digestOf({ mapped }: Report): string {
  return sha256Hex(canonicalJson(mapped.fields));
}

/**
 * Emits the Events of a definition once the status is written. If that fails, the next pass finds the same change and emits them; so no
 * Event is emitted twice.
 */
export function emitEvents(pass: Pass, { events }: Report, status: StatusOutcome): void {
  if (['failed', 'deleted', 'deferred'].includes(status.kind)) return;
  for (const { type, reason, message } of events) {
    emitEvent(pass, { type, reason, note: message });
  }
}
