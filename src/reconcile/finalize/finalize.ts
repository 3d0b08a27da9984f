import type { ReconcileResult } from '../../controller/index.ts';
import { type KubeObject, parseKey } from '../../util/kube-object.ts';
import type { Problem } from '../failure.ts';
import { identityOfObject } from '../identity.ts';
import { historyAnnotationOf } from '../names.ts';
import { hasFinalizer, isControlledBy, isPaused, isTerminating } from '../ownership-claims.ts';
import type { OperatorContext, PassTurn, Uninstall } from '../pass/context.ts';
import {
  beginPass,
  isRemoved,
  loggerOf,
  type Pass,
  type PassInput,
  type PrunedObject,
} from '../pass/pass.ts';
import { stateOf } from '../pass/resource-state.ts';
import { type ChildEntry, describeOnDelete, describePruned } from '../report/child-entries.ts';
import { resultOfProblems } from '../report/reconcile-result.ts';
import { reportFailures } from '../report/report-failures.ts';
import { removeFinalizer } from '../resource/write-metadata.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import { type DeletionOptions, deletionOptionsOf } from './deletion-options.ts';
import { messageOf, reportDeletion, reportUninstalled, wasOverdue } from './deletion-report.ts';
import { type Preparation, prepareDeletion, recordOrphaning } from './prepare-deletion.ts';
import { findRemaining, type RemainingChildren } from './remaining-children.ts';
import { removeInOrder, removeRecords } from './remove-in-order.ts';

export interface FinalizeOptions {
  readonly key: string;
  /** A resource that is being deleted with our finalizer, or whose definition is being removed. */
  readonly resource: KubeObject;
  readonly turn: PassTurn;
}

/**
 * Completes the deletion of a resource (docs/definition/deletion.md): creates `onDelete.children`, removes the children in order, and removes
 * our finalizer at the end. Needs no valid plan: labels and inventory identify the children.
 */
export async function finalize(
  context: OperatorContext,
  { key, resource, turn }: FinalizeOptions,
): Promise<ReconcileResult> {
  const state = stateOf(context, key, resource);
  const pass = beginPass({ context, key, resource, state, turn });
  const deletion = await deletionOptionsOf(pass);

  const preparation = await prepareDeletion(pass, deletion);
  // Afterwards: objects that were just created are among them.
  const remaining = await findRemaining(pass);
  const isAnyRemaining = remaining.objects.length > 0 || remaining.problems.length > 0;
  const orphaningProblem = isAnyRemaining ? await recordOrphaning(pass) : undefined;
  if (preparation.isDone && orphaningProblem === undefined)
    pass.effects.pruned.push(...(await removeInOrder(pass, remaining, deletion)));
  const unrecorded = [deletion.problem, orphaningProblem].flatMap((problem) => problem ?? []);
  const problems = [
    ...unrecorded,
    ...remaining.problems,
    ...preparation.problems,
    ...(await removeRecords(pass)),
  ];
  // Only terminating objects may be abandoned: their deletion completes without us. Others would remain for ever.
  const isFinished = (each: PrunedObject) =>
    isRemoved(each) || (deletion.isForced && each.state === 'deleting');
  const isOver =
    preparation.isDone && problems.length === 0 && pass.effects.pruned.every(isFinished);
  const finalizerProblem =
    isOver && hasFinalizer(resource, context.plan.name) ? await removeFinalizer(pass) : undefined;

  pass.dependencies.finish();
  if (isOver && finalizerProblem === undefined)
    return isTerminating(resource) ? finishDeletion(pass) : finishUninstall(pass);
  return reportPending(pass, {
    deletion,
    preparation,
    remaining,
    problems: finalizerProblem ? [finalizerProblem] : problems,
  });
}

function finishDeletion(pass: Pass): ReconcileResult {
  const {
    context,
    key,
    effects: { pruned },
  } = pass;
  context.rights.retain(key, []);
  const count = (state: string) => pruned.filter((each) => each.state === state).length;
  loggerOf(pass).info(
    { pruned: count('deleted'), released: count('released') },
    'Deletion finished',
  );
  return { kind: 'done' };
}

/** The resource is kept, without its children. */
async function finishUninstall(pass: Pass): Promise<ReconcileResult> {
  const {
    context,
    key,
    state,
    effects: { pruned },
  } = pass;
  state.isReady = false;
  const status = await reportUninstalled(pass);
  const outcome = resultOfProblems(pass, [], status);
  // A failed status write blocks nothing.
  if (outcome.kind === 'retry') return outcome;
  context.rights.retain(key, []);
  if (pruned.length > 0) loggerOf(pass).info({ pruned: pruned.length }, 'Children removed');
  context.uninstall?.onRemoved(key);
  return outcome;
}

interface PendingDeletion {
  readonly deletion: DeletionOptions;
  readonly preparation: Preparation;
  readonly remaining: RemainingChildren;
  readonly problems: readonly Problem[];
}

async function reportPending(pass: Pass, waiting: PendingDeletion): Promise<ReconcileResult> {
  const { deletion, problems } = waiting;
  const entries = await entriesOf(pass, waiting);
  const report = { entries, problems, isOverdue: deletion.isOverdue };
  if (deletion.isOverdue && !wasOverdue(pass)) emitTimedOut(pass, messageOf(entries, problems));
  const status = await reportDeletion(pass, report);
  const all = [...problems, ...entries.flatMap(({ problem }) => problem ?? [])];
  reportFailures(pass, { entries, problems: all }, status);
  recordDecisions(pass, entries, { all, status });
  const outcome = resultOfProblems(pass, all, status);
  return noLaterThan(outcome, deletion.remainingMs);
}

/** Limits a delay to the end of `onDelete.timeout`. */
function noLaterThan(outcome: ReconcileResult, remainingMs: number | undefined): ReconcileResult {
  const isInTime = 'afterMs' in outcome && outcome.afterMs <= (remainingMs ?? Infinity);
  if (remainingMs === undefined || isInTime || outcome.kind === 'retry') return outcome;
  return { kind: 'requeue', afterMs: remainingMs, reason: 'Terminating' };
}

async function entriesOf(
  pass: Pass,
  { preparation }: PendingDeletion,
): Promise<readonly ChildEntry[]> {
  if (!preparation.isDone) return describeOnDelete(pass);
  return pass.effects.pruned.map((pruned) => describePruned(pass, pruned));
}

function emitTimedOut({ context, resource }: PassInput, note: string): void {
  context.cluster.events.record({
    regarding: resource,
    type: 'Warning',
    reason: 'DeletionTimedOut',
    action: 'Delete',
    note,
    definition: context.plan.name,
  });
}

function recordDecisions(
  pass: Pass,
  entries: readonly ChildEntry[],
  { all, status }: { readonly all: readonly Problem[]; readonly status: StatusOutcome },
): void {
  pass.state.isReady = false;
  pass.context.onDecisions(pass.key, {
    children: entries.map(({ decision }) => decision),
    status: status.kind,
    isReady: false,
    problemCodes: all.map(({ code }) => code),
  });
}

/** Handles a resource that is being deleted. Without our finalizer, the garbage collector deletes its children. */
export async function finalizeResource(
  context: OperatorContext,
  options: FinalizeOptions,
): Promise<ReconcileResult> {
  const isHeld = hasFinalizer(options.resource, context.plan.name);
  return isHeld ? finalize(context, options) : { kind: 'done' };
}

/**
 * Handles an object with our finalizer that is no longer a resource of the definition: completes its deletion, or removes the finalizer
 * once it has no children.
 * @returns undefined when nothing is left to do.
 */
export async function finalizeUnmatched(
  context: OperatorContext,
  key: string,
  turn: PassTurn,
): Promise<ReconcileResult | undefined> {
  const { namespace, name } = parseKey(key);
  const resource = context.watches.resources.unmatched(namespace, name)?.object;
  if (resource === undefined || !hasFinalizer(resource, context.plan.name)) return undefined;
  if (isPaused(resource)) return { kind: 'done' };
  if (isTerminating(resource)) return finalize(context, { key, resource, turn });
  const state = stateOf(context, key, resource);
  const pass = beginPass({ context, key, resource, state, turn });
  const { objects, problems } = await findRemaining(pass);
  if (objects.length > 0 || problems.length > 0) return undefined;
  const problem = await removeFinalizer(pass);
  if (problem?.error !== undefined) throw problem.error;
  return undefined;
}

/**
 * Handles a live resource whose definition is being removed: its children are deleted as if it were deleted, `onDelete` first, or kept. The
 * resource itself is kept.
 */
export async function uninstallResource(
  context: OperatorContext,
  { deletesChildren, onRemoved }: Uninstall,
  options: FinalizeOptions,
): Promise<ReconcileResult> {
  const { plan } = context;
  // With `onDelete`, a resource without our finalizer has no children, and nothing to prepare.
  const isBare = plan.onDelete !== undefined && !hasFinalizer(options.resource, plan.name);
  if (deletesChildren && !isBare) return finalize(context, options);
  onRemoved(options.key);
  return { kind: 'done' };
}

/** Removes the finalizer if a changed definition no longer needs it and no child needs it. */
export async function removeUnneededFinalizer(pass: Pass): Promise<void> {
  const { plan } = pass.context;
  if (plan.needsFinalizer || !hasFinalizer(pass.resource, plan.name)) return;
  // Versions in other namespaces are deleted with the resource, though the definition keeps none any more.
  if (pass.resource.metadata.annotations?.[historyAnnotationOf(plan.name)] !== undefined) return;
  if (!pass.effects.pruned.every(isRemoved)) return;
  const removed = new Set(pass.effects.pruned.map(({ object }) => identityOfObject(object)));
  const { objects, problems } = await findRemaining(pass);
  const needsUs = objects.some(
    ({ object }) => !removed.has(identityOfObject(object)) && !isControlledBy(object, pass.uid),
  );
  const problem = problems[0] ?? (needsUs ? undefined : await removeFinalizer(pass));
  if (problem !== undefined) pass.effects.finalizerProblem = problem;
}
