import type { RenderedEvent } from '../../compile/index.ts';
import type { KubeError } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import type { Condition } from '../../util/condition.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { sha256Hex } from '../../util/sha256.ts';
import type { StatusRejection } from '../attempt/attempt-history.ts';
import { statusBlocker, statusRejection } from '../attempt/limiter.ts';
import { limitBackoffText } from '../attempt/pace.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { inventoryAfter } from '../ownership/maintain-inventory.ts';
import type { Pass } from '../pass/pass.ts';
import {
  type StatusOutcome,
  writeStatus,
  writeStatusUnlessSuperseded,
} from '../resource/write-status.ts';
import { disclosureOfResource } from '../secrecy.ts';
import { isForeign } from '../status-fields.ts';
import { type ChildEntry, describeChildren } from './child-entries.ts';
import { authorConditions, standardConditions } from './conditions.ts';
import {
  lastMapped,
  type MappedStatus,
  mapStatus,
  type ReportingContext,
  startReporting,
} from './map-status.ts';
import { readProblems, type Summary, type SummaryReason, summarise } from './summary.ts';

/** Maximum length of `status.children`; `status.childCounts` counts all. */
const maxListedChildren = 100;

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
  /** @default undefined: no requeue */
  readonly requeueAfterMs?: number;
  readonly reporting: ReportingContext;
  /** All problems, of children and of the rest. */
  readonly problems: readonly Problem[];
  /** Reason of the condition `Ready`. */
  readonly reason: SummaryReason;
  readonly status: Readonly<Record<string, unknown>>;
}

/** Builds the report from the cluster state after the applies. Sends nothing. */
export async function buildReport(pass: Pass): Promise<Report> {
  const reporting = startReporting(pass);
  const entries = await describeChildren(pass, reporting.phase);
  const mapped = await mapStatus(pass, reporting);
  const { conditions, problems } = await authorConditions(pass, reporting, mapped);
  return reportOf(pass, {
    entries,
    mapped,
    conditions,
    furtherProblems: problems,
    events: [],
    reporting,
  });
}

/** The report while the author's fields keep their last values, for example because the server rejects them (`why`). */
export function withLastMapped(pass: Pass, report: Report, ...why: readonly Problem[]): Report {
  const problems = [...report.mapped.problems, ...why];
  const mapped = { fields: lastMapped(pass), problems };
  // The Events would report a status that was not written.
  return reportOf(pass, { ...report, mapped, events: [] });
}

/** The parts of a report. */
type ReportParts = Omit<Report, 'problems' | 'reason' | 'status'>;

/** Assembles a report from its parts. */
export function reportOf(pass: Pass, parts: ReportParts): Report {
  const { entries, mapped, conditions, furtherProblems } = parts;
  const { finalizerProblem, historyProblem } = pass.effects;
  const problems = [
    ...readProblems(pass),
    ...(pass.context.history?.problems(pass.key) ?? []),
    ...[finalizerProblem, historyProblem].filter((problem) => problem !== undefined),
    ...mapped.problems,
    ...furtherProblems,
  ];
  const summary = summariseWithBackoff(pass, entries, problems);
  const { resource, phaseInput, context } = pass;
  const listed = entries.filter(({ isListed }) => isListed);
  return {
    ...parts,
    problems: [...problems, ...entries.flatMap(({ problem }) => problem ?? [])],
    reason: summary.reason,
    status: isForeign(context.plan)
      ? { ...mapped.fields, ...(conditions.length === 0 ? {} : { conditions }) }
      : {
          ...mapped.fields,
          observedGeneration: resource.metadata.generation ?? 0,
          definitionRevision: context.plan.revision,
          conditions: [
            ...standardConditions({ resource, summary, now: phaseInput.now }),
            ...conditions,
          ],
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
  const summary = summarise(entries, problems, state.attempts.pace.instability);
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
  return unreadyFirst.slice(0, maxListedChildren).map(({ decision, isNameless = false }) => {
    const { childId: id, apiVersion, kind, cluster, state, message } = decision;
    const { namespace, name } = isNameless ? nameless : decision;
    const place = cluster === undefined || isNameless ? {} : { cluster };
    return { id, apiVersion, kind, ...place, namespace, name, state, message };
  });
}

const nameless = { namespace: '', name: '' };

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
  pass.state.attempts.status.rejection = undefined;
  const status = await writeStatusUnlessSuperseded(pass, report.status);
  if (!isRejected(status) || !hasMappedChanges(pass, report)) return { report, status };
  const rejection = rejectionOf(pass, report, status.error);
  const reported = await reportRejection(pass, report, rejection);
  // Rejected again: the author's fields are not the only cause.
  return isRejected(reported.status) ? { report, status } : reported;
}

/** The rejection that a write of these fields would repeat. */
function knownRejection(pass: Pass, report: Report): StatusRejection | undefined {
  const isKnown = pass.state.attempts.status.rejection !== undefined;
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
  pass.state.attempts.status.rejection = isAccepted ? rejection : undefined;
  return { report: isAccepted ? reported : report, status };
}

function rejectionOf(pass: Pass, report: Report, error: KubeError): StatusRejection {
  const problem = problemOfRequest(error, { about: disclosureOfResource(pass.context.plan) });
  return statusRejection(pass, digestOf(report), {
    ...problem,
    message: `status: ${problem.message}`,
  });
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
