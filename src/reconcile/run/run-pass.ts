import type { ReconcileResult } from '../../controller/index.ts';
import { pathLength } from '../../util/json.ts';
import { conditionsOf, type KubeObject, parseKey } from '../../util/kube-object.ts';
import { pausedAnnotation } from '../../util/stored-names.ts';
import { applyChildren, forgetUndesired } from '../child/apply-tiers.ts';
import {
  ensureEarlyFinalizer,
  removeOldInventory,
  removeOldPlacements,
} from '../child/ensure-finalizer.ts';
import {
  finalize,
  finalizeUnmatched,
  removeUnneededFinalizer,
  uninstallResource,
} from '../finalize/finalize.ts';
import { observeReads } from '../observe/observe-reads.ts';
import { hasFinalizer, isPaused, isTerminating } from '../ownership-claims.ts';
import type { OperatorContext, PassTurn } from '../pass/context.ts';
import { beginPass, loggerOf, type Pass, type PassInput, publishDecisions } from '../pass/pass.ts';
import { stateOf } from '../pass/resource-state.ts';
import { buildReport, emitEvents, type Report, writeReport } from '../report/build-report.ts';
import { standardConditions } from '../report/conditions.ts';
import { reconcileResult } from '../report/reconcile-result.ts';
import { reportFailures } from '../report/report-failures.ts';
import { reportWaiting } from '../report/report-waiting.ts';
import { type StatusOutcome, writeStatus } from '../resource/write-status.ts';
import { isForeign, ownStatusOf, standardConditionTypes } from '../status-fields.ts';
import { prune } from './prune.ts';
import { runUnmatched } from './run-unmatched.ts';

/**
 * The API server lists the path of each field of an object that is written. For an object nested 9,900 levels deep, a write of its status
 * takes it 100 ms. So deep resources count as work: 2,000 levels are 62,500 steps, 9,900 are more than the default limit.
 */
const pathLengthOfStep = 32;

/** Reconciles one resource: brings its children to the desired state, and reports. */
export async function runPass(
  context: OperatorContext,
  key: string,
  turn: PassTurn,
): Promise<ReconcileResult> {
  if (!context.watches.resources.serves(parseKey(key).namespace)) return dropResource(context, key);
  const resource = context.watches.resources.get(key)?.object;
  if (resource === undefined) {
    const ended =
      (await finalizeUnmatched(context, key, turn)) ?? (await runUnmatched(context, key, turn));
    return ended ?? dropResource(context, key);
  }
  if (isPaused(resource)) return reportPaused(beginPass(context, { key, resource, turn }));
  // No children are created for a resource that is being deleted.
  if (isTerminating(resource)) {
    await context.recorder?.forget(key);
    // Without our finalizer, the garbage collector deletes its children.
    return hasFinalizer(resource, context.plan.name)
      ? finalize(context, { key, resource, turn })
      : { kind: 'done' };
  }
  if (context.uninstall !== undefined)
    return uninstallResource(context, context.uninstall, { key, resource, turn });
  if (context.isFinalizeOnly) return { kind: 'done' };
  const state = stateOf(context, key, resource);
  const { pace } = state.attempts;
  const pause = pace.pauseBefore(resource.metadata.generation, context.clock.monotonicMs());
  if (pause !== undefined) return { kind: 'requeue', ...pause };
  pace.begin();
  context.timetable.began(key);
  turn.budget.charge(Math.floor(pathLength(resource) / pathLengthOfStep));
  const pass = beginPass(context, { key, resource, state, turn });

  context.trace?.onPhase(key, 'reads');
  await ensureEarlyFinalizer(pass);
  await applyChildren(pass);
  context.trace?.onPhase(key, 'prune');
  await prune(pass);
  await removeUnneededFinalizer(pass);
  await removeOldInventory(pass);
  await removeOldPlacements(pass);
  context.trace?.onPhase(key, 'report');
  const complete = await buildReport(pass);
  context.trace?.onPhase(key, 'status');
  const { report, status } = await writeReport(pass, complete);
  emitEvents(pass, report, status);

  pass.dependencies.finish();
  forgetUndesired(pass);
  recordDecisions(pass, report, status);
  context.timetable.runAgain(key, report.requeueAfterMs);
  return reconcileResult(pass, report, status);
}

/** Drops the state of a resource. Only events of the resource or its children enqueue it then. */
export function forgetResource(context: OperatorContext, key: string): void {
  const { states, watches, rights, causes, timetable, recorder } = context;
  // What is in flight ends by itself.
  void recorder?.forget(key);
  timetable.forget(key);
  states.delete(key);
  rights.retain(key, []);
  causes.forget(key);
  watches.forget(key);
}

/** Drops the state of a resource that is no longer to be reconciled. */
function dropResource(context: OperatorContext, key: string): ReconcileResult {
  forgetResource(context, key);
  const { watches, plan } = context;
  const unmatched = watches.resources.unmatched(key)?.object;
  // With our finalizer, it is released once its inventory is empty: the borrowed watches are needed until then.
  const isHeld = unmatched !== undefined && hasFinalizer(unmatched, plan.name);
  if (!isHeld) watches.releaseInventoryKinds(key);
  return { kind: 'done' };
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

const pausedSummary = {
  reason: 'Paused',
  message: `Paused by annotation "${pausedAnnotation}"; remove it to resume`,
  isStalled: false,
  isReconciling: false,
} as const;

/** Reports the pause in the status of the definition's own kinds, and keeps the rest of it. Removing the annotation enqueues the resource. */
async function reportPaused(pass: Pass): Promise<ReconcileResult> {
  const { context, key, state } = pass;
  context.timetable.forget(key);
  state.isReady = false;
  // Changes are recorded during a pause, too.
  if (context.history !== undefined) await observeReads(pass);
  if (isForeign(context.plan)) return { kind: 'done' };
  const status = await writeStatus(pass, pausedStatus(pass));
  if (status.kind === 'failed') throw status.error;
  if (status.kind === 'written') loggerOf(pass).info({}, 'Paused');
  return { kind: 'done' };
}

function pausedStatus(pass: PassInput): Readonly<Record<string, unknown>> {
  const { context, resource } = pass;
  const { conditions, ...ours } = ownStatusOf(resource, context.plan);
  const standard = standardConditions(pass, pausedSummary).map((condition) => ({
    ...condition,
    // An edit during the pause is not observed.
    observedGeneration: pausedGeneration(resource) ?? condition.observedGeneration,
  }));
  const others = conditions.filter(({ type }) => !standardConditionTypes.has(type));
  return { ...ours, conditions: [...standard, ...others] };
}

/** The generation at the start of the pause; undefined: the pause starts now. */
function pausedGeneration(resource: KubeObject): number | undefined {
  const ready = conditionsOf(resource).find(({ type }) => type === 'Ready');
  const { reason, observedGeneration } = ready ?? {};
  return reason === 'Paused' && typeof observedGeneration === 'number'
    ? observedGeneration
    : undefined;
}
