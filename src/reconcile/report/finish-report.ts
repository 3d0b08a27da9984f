import type { RenderedEvent, ReportPhase } from '../../compile/index.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import type { Pass } from '../pass/pass.ts';
import { applyPatches } from '../patch/apply-patches.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import { type Report, reportOf } from './build-report.ts';
import { withNewStatus } from './map-status.ts';

/** Shorter ones count as this: a resource chooses its own where the definition lets it. */
const shortestRequeueMs = 1_000;

/** What is reported besides the status: patches are sent; Events, and when to run again, are for when the status is written. */
export async function finishReport(pass: Pass, report: Report): Promise<Report> {
  const { reporting } = pass.context.plan;
  if (reporting === undefined || !report.world.isKnown) return report;
  const { patches, hasEvents, hasRequeueAfter } = reporting;
  let told = report;
  if (patches.length > 0) {
    const problems = await applyPatches(pass, startPhase(pass, told));
    if (problems.length > 0) told = withFurther(pass, told, { problems });
  }
  if (!hasEvents && !hasRequeueAfter) return told;
  return withFurther(pass, told, await tellFurther(startPhase(pass, told)));
}

/** The status is the new one, as far as it is known by then. */
function startPhase(pass: Pass, { world, status }: Report): ReportPhase {
  const { reporting } = pass.context.plan;
  if (reporting === undefined) throw new Error('Expected a plan that reports more than the status');
  return reporting.startPhase({
    ...pass.phaseInput,
    ...world.seen,
    resource: withNewStatus(pass, status),
    previous: pass.resource,
  });
}

/** What is known besides the status. */
interface Further {
  readonly problems: readonly Problem[];
  readonly events?: readonly RenderedEvent[];
  readonly requeueAfterMs?: number;
}

async function tellFurther(phase: ReportPhase): Promise<Further> {
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

function withFurther(pass: Pass, report: Report, { problems, ...further }: Further): Report {
  return reportOf(pass, {
    ...report,
    ...further,
    furtherProblems: [...report.furtherProblems, ...problems],
  });
}

/**
 * Tells the Events of a definition, once the status is as it says: until then the next pass finds the same change and tells of it,
 * and nobody hears of it twice.
 */
export function tellEvents(pass: Pass, { events }: Report, status: StatusOutcome): void {
  if (status.kind === 'failed' || status.kind === 'gone') return;
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
