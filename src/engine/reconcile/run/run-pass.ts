import type { Outcome } from '#controller';
import { pathLength } from '#util/json.ts';
import { conditionsOf, parseKey } from '#util/kube-object.ts';
import { applyChildren, forgetUndesired } from '../child/apply-tiers.ts';
import { ensureEarlyFinalizer, removeOldInventory } from '../child/ensure-finalizer.ts';
import { removeUnneededFinalizer } from '../finalize/finalize.ts';
import { scheduleNext, setDue } from '../ledger/due.ts';
import { clustersAfter } from '../ownership/maintain-inventory.ts';
import type { OperatorContext, PassTurn } from '../pass/context.ts';
import { beginPass, loggerOf, type Pass, type PassInput, publishDecisions } from '../pass/pass.ts';
import { stateOf } from '../pass/resource-state.ts';
import { buildReport, emitEvents, type Report, writeReport } from '../report/build-report.ts';
import { outcomeOfPass } from '../report/outcome-of-pass.ts';
import { reportFailures } from '../report/report-failures.ts';
import { reportWaiting } from '../report/report-waiting.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import { prune } from './prune.ts';
import { finalizeOnly, paused, type Route, runAbsent, terminating, uninstalled } from './routes.ts';

/**
 * The API server lists the path of each field of an object that is written. For an object nested 9,900 levels deep, a write of its status
 * takes it 100 ms. So deep resources count as work: 2,000 levels are 62,500 steps, 9,900 are more than the default limit.
 */
const pathLengthOfStep = 32;

/** What is done with a resource instead of applying its children. The order counts. */
const routes: readonly Route[] = [paused, terminating, uninstalled, finalizeOnly];

/** Reconciles one resource: brings its children to the desired state, and reports. */
export async function runPass(
  context: OperatorContext,
  key: string,
  turn: PassTurn,
): Promise<Outcome> {
  const resource = context.watches.resources.get(key)?.object;
  const isServed = context.watches.resources.serves(parseKey(key).namespace);
  if (resource === undefined || !isServed) return runAbsent(context, { key, turn, isServed });
  for (const route of routes) {
    const result = route(context, { key, resource, turn });
    if (result !== undefined) return result;
  }
  const state = stateOf(context, key, resource);
  const { ledger } = state;
  const { generation } = resource.metadata;
  const pause = ledger.pace?.pauseBefore(generation, context.clock.monotonicMs());
  if (pause !== undefined) return pause;
  if (ledger.takeEvent()) ledger.pace?.restart();
  turn.budget.charge(Math.floor(pathLength(resource) / pathLengthOfStep));
  const pass = beginPass(context, { key, resource, state, turn });
  scheduleNext(pass);

  context.trace?.onPhase(key, 'reads');
  await ensureEarlyFinalizer(pass);
  await applyChildren(pass);
  context.trace?.onPhase(key, 'prune');
  await prune(pass);
  await removeUnneededFinalizer(pass);
  await removeOldInventory(pass);
  await pass.others?.forgetPlaces(clustersAfter(pass));
  context.trace?.onPhase(key, 'report');
  const complete = await buildReport(pass);
  // Before the status write, which may take long: the delay counts from now.
  setDue(pass, 'requeueAfter', complete.requeueAfterMs);
  context.trace?.onPhase(key, 'status');
  const { report, status } = await writeReport(pass, complete);
  emitEvents(pass, report, status);

  pass.dependencies.finish();
  forgetUndesired(pass);
  recordDecisions(pass, report, status);
  return outcomeOfPass(pass, report, status);
}

/** Emits Events and log lines for changes, and passes on the decision record. */
function recordDecisions(pass: Pass, report: Report, status: StatusOutcome): void {
  const isDeferred = status.kind === 'deferred';
  const isReady = isDeferred ? isReportedReady(pass) : report.reason === 'AllReady';
  pass.state.isReady = isReady;
  if (!isDeferred) {
    reportFailures(pass, report, status);
    reportWaiting(pass, report);
  }
  const decisions = report.entries.map(({ decision }) => decision);
  const count = (kind: string) => decisions.filter(({ verdict }) => verdict.kind === kind).length;
  const { patched } = pass.effects;
  const wrote = {
    created: count('created'),
    applied: count('applied'),
    pruned: count('pruned'),
    ...(patched.length === 0 ? {} : { patched: patched.length }),
  };
  if (status.kind === 'written' || Object.values(wrote).some((number) => number > 0)) {
    // An unstable resource would fill the log; its condition and an Event report it. A status write alone is not worth a line.
    const hasChangedObjects = Object.values(wrote).some((number) => number > 0);
    const level = hasChangedObjects && report.reason !== 'Unstable' ? 'info' : 'debug';
    loggerOf(pass)[level]({ ...wrote, status: status.kind }, 'Reconciled');
  }
  publishDecisions(pass, {
    children: decisions,
    ...(patched.length === 0 ? {} : { patched }),
    status: status.kind,
    isReady,
    problemCodes: report.problems.map(({ code }) => code),
  });
}

function isReportedReady({ resource }: PassInput): boolean {
  return conditionsOf(resource).some(({ type, status }) => type === 'Ready' && status === 'True');
}
