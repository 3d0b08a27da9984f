import type { RenderedEvent, ReportPhase } from '../../compile/index.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import type { Pass } from '../pass/pass.ts';
import { applyPatches } from '../patch/apply-patches.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import { type Report, reportOf, withLastMapped } from './build-report.ts';
import { withNewStatus } from './map-status.ts';

/** Minimum of `requeueAfter`: the value may come from the resource. */
const shortestRequeueMs = 1_000;

/** Sends patches, and adds Events and `requeueAfter` to the report. */
export async function completeReport(pass: Pass, report: Report): Promise<Report> {
  const { reporting } = pass.context.plan;
  if (reporting === undefined || !report.reporting.isComplete) return report;
  const { patches, hasEvents, hasRequeueAfter } = reporting;
  let complete = report;
  if (patches.length > 0) {
    const problems = await applyPatches(pass, startPhase(pass, complete));
    if (problems.length > 0) complete = withAdditions(pass, complete, { problems });
  }
  // A restore that waits or failed must not be reported as done.
  const isPending = pass.context.plan.history !== undefined && complete !== report;
  if (isPending) complete = withLastMapped(pass, complete);
  if (!hasEvents && !hasRequeueAfter) return complete;
  const additions = await renderAdditions(startPhase(pass, complete));
  return withAdditions(pass, complete, isPending ? { ...additions, events: [] } : additions);
}

/** Starts the phase over the new status, as far as it is known by then. */
function startPhase(pass: Pass, { reporting: { inputs }, status }: Report): ReportPhase {
  const { reporting } = pass.context.plan;
  if (reporting === undefined) throw new Error('Expected a plan that reports more than the status');
  return reporting.startPhase({
    ...pass.phaseInput,
    ...inputs,
    resource: withNewStatus(pass, status),
    previous: pass.resource,
  });
}

/** What a report has besides the status. */
interface ReportAdditions {
  readonly problems: readonly Problem[];
  readonly events?: readonly RenderedEvent[];
  readonly requeueAfterMs?: number;
}

async function renderAdditions(phase: ReportPhase): Promise<ReportAdditions> {
  const [{ events, failures }, requeue] = await Promise.all([phase.events(), phase.requeueAfter()]);
  const failed = requeue.kind === 'failed' ? [...failures, requeue.failure] : failures;
  return {
    events,
    problems: failed.map(problemOfRender),
    ...(requeue.kind === 'value'
      ? { requeueAfterMs: Math.max(requeue.value, shortestRequeueMs) }
      : {}),
  };
}

function withAdditions(
  pass: Pass,
  report: Report,
  { problems, ...further }: ReportAdditions,
): Report {
  return reportOf(pass, {
    ...report,
    ...further,
    furtherProblems: [...report.furtherProblems, ...problems],
  });
}

/**
 * Emits the Events of a definition once the status is written. If that fails, the next pass finds the same change and emits them; so no
 * Event is emitted twice.
 */
export function emitEvents(pass: Pass, { events }: Report, status: StatusOutcome): void {
  if (['failed', 'deleted', 'deferred'].includes(status.kind)) return;
  const { context, resource } = pass;
  for (const { type, reason, message } of events) {
    context.cluster.events.record({
      regarding: resource,
      type,
      reason,
      action: 'Reconcile',
      note: message,
      definition: context.plan.name,
    });
  }
}
