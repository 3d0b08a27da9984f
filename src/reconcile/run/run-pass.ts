import type { Outcome } from '../../controller/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { parseKey } from '../../util/object-key.ts';
import { dropOldInventory, ensureOnDelete } from '../child/ensure-finalizer.ts';
import { forgetUnwanted } from '../child/forget-unwanted.ts';
import { wantAll } from '../child/want-tier.ts';
import {
  endResource,
  finalizeUnmatched,
  letGoUnneeded,
  retireResource,
} from '../finalize/end-resource.ts';
import { hasFinalizer, isPaused, isTerminating } from '../owner.ts';
import type { OperatorContext, PassTurn } from '../pass/context.ts';
import { type BeginOptions, beginPass, loggerOf, type Pass } from '../pass/pass.ts';
import { stateOf } from '../pass/resource-state.ts';
import { buildReport, type Report } from '../report/build-report.ts';
import { conclude } from '../report/conclude.ts';
import { finishReport, tellEvents } from '../report/finish-report.ts';
import { tellFailures } from '../report/tell-failures.ts';
import { writeReport } from '../report/write-report.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import { reportPaused } from './paused.ts';
import { prune } from './prune.ts';
import { runUnmatched } from './run-unmatched.ts';

/** Runs one resource: makes the world as its definition says, and reports (engine.md section 5). */
export async function runPass(
  context: OperatorContext,
  key: string,
  turn: PassTurn,
): Promise<Outcome> {
  if (!context.watches.resources.serves(parseKey(key).namespace)) return forget(context, key);
  const resource = observe(context, key)?.object;
  if (resource === undefined) {
    const ended =
      (await finalizeUnmatched(context, key, turn)) ?? (await runUnmatched(context, key, turn));
    return ended ?? forget(context, key);
  }
  if (isPaused(resource)) return pause(context, { key, resource, turn });
  // Nothing that its children are made of is ever made in a resource that is going.
  if (isTerminating(resource)) return endResource(context, { key, resource, turn });
  if (context.retirement !== undefined)
    return retireResource(context, context.retirement, { key, resource, turn });
  if (context.isFinishing) return { kind: 'done' };
  const state = stateOf(context, key, resource);
  const { pace } = state.attempts;
  const rest = pace.whyNotRun(resource.metadata.generation, context.clock.monotonicMs());
  if (rest !== undefined) return { kind: 'requeue', ...rest };
  pace.begin();
  context.timetable.began(key);
  const pass = beginPass({ context, key, resource, state, turn });

  await ensureOnDelete(pass);
  await wantAll(pass);
  await prune(pass);
  await letGoUnneeded(pass);
  await dropOldInventory(pass);
  const told = await finishReport(pass, await buildReport(pass));
  const { report, status } = await writeReport(pass, told);
  tellEvents(pass, report, status);

  pass.dependencies.finish();
  forgetUnwanted(pass);
  record(pass, report, status);
  context.timetable.runAgain(key, report.requeueAfterMs);
  return conclude(pass, report, status);
}

function pause(
  context: OperatorContext,
  { key, resource, turn }: Pick<BeginOptions, 'key' | 'resource' | 'turn'>,
): Promise<Outcome> {
  const state = stateOf(context, key, resource);
  return reportPaused(beginPass({ context, key, resource, state, turn }));
}

function observe({ watches }: OperatorContext, key: string): StoredObject | undefined {
  const { namespace, name } = parseKey(key);
  return watches.resources.get(namespace, name);
}

/** All that is remembered of a resource goes, and nothing wakes it any more but what happens to it or its children. */
export function forgetResource(context: OperatorContext, key: string): void {
  const { states, watches, rights, timetable } = context;
  timetable.forget(key);
  states.delete(key);
  rights.retain(key, []);
  watches.forget(key);
}

/** All that is kept of a resource goes with it. */
function forget(context: OperatorContext, key: string): Outcome {
  forgetResource(context, key);
  const { watches, plan } = context;
  const { namespace, name } = parseKey(key);
  const unmatched = watches.resources.unmatched(namespace, name)?.object;
  // One with our finalizer is let go when nothing of its inventory is left: the watches have to tell.
  const isHeld = unmatched !== undefined && hasFinalizer(unmatched, plan.name);
  if (!isHeld) watches.endBorrowing(key);
  return { kind: 'done' };
}

/** Tells of the pass: Events and log lines for what has changed, the decision record for everybody else. */
function record(pass: Pass, report: Report, status: StatusOutcome): void {
  const { context, key } = pass;
  const isReady = report.reason === 'AllReady';
  pass.state.isReady = isReady;
  tellFailures(pass, report, status);
  const decisions = report.entries.map(({ decision }) => decision);
  const count = (kind: string) => decisions.filter(({ verdict }) => verdict.kind === kind).length;
  const { patched } = pass.did;
  const wrote = {
    created: count('created'),
    applied: count('applied'),
    pruned: count('pruned'),
    ...(patched.length === 0 ? {} : { patched: patched.length }),
  };
  if (status.kind === 'written' || Object.values(wrote).some((number) => number > 0)) {
    // A resource that does not come to rest would fill the log; its condition and an Event have told of it. What only tells of itself
    // is no news to the person on call.
    const isWorld = Object.values(wrote).some((number) => number > 0);
    const level = isWorld && report.reason !== 'Unstable' ? 'info' : 'debug';
    loggerOf(pass)[level]({ ...wrote, status: status.kind }, 'Reconciled');
  }
  context.onDecisions(key, {
    children: decisions,
    ...(patched.length === 0 ? {} : { patched }),
    status: status.kind,
    isReady,
    problemCodes: report.problems.map(({ code }) => code),
  });
}
