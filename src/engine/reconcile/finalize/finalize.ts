import type { Outcome } from '#controller';
import type { Problem } from '../failure.ts';
import { identityOfObject } from '../identity.ts';
import { forgetDue, setDue } from '../ledger/due.ts';
import { hasFinalizer, isControlledBy, isPaused, isTerminating } from '../ownership-claims.ts';
import type { OperatorContext, PassTurn, Uninstall } from '../pass/context.ts';
import { removalBlockers } from '../pass/feature.ts';
import {
  beginPass,
  emitEvent,
  isRemoved,
  loggerOf,
  type Pass,
  type PassRequest,
  type PrunedObject,
  publishDecisions,
} from '../pass/pass.ts';
import { shorter, untilTimeChange } from '../pass/time-changes.ts';
import { describeOnDelete, describePruned } from '../report/child-entries.ts';
import { outcomeOfProblems } from '../report/outcome-of-pass.ts';
import { reportFailures } from '../report/report-failures.ts';
import { reportHeldDeletion } from '../report/report-waiting.ts';
import { removeFinalizer } from '../resource/write-metadata.ts';
import { type DeletionOptions, deletionOptionsOf } from './deletion-options.ts';
import { messageOf, reportDeletion, reportUninstalled, wasOverdue } from './deletion-report.ts';
import {
  isOrphaning,
  type Preparation,
  prepareDeletion,
  recordOrphaning,
} from './prepare-deletion.ts';
import { findRemaining } from './remaining-children.ts';
import { removeInOrder } from './remove-in-order.ts';

/**
 * Completes the deletion of a resource that is being deleted with our finalizer, or whose definition is being removed
 * (docs/definition/deletion.md): creates `onDelete.children`, removes the children in order, and removes
 * our finalizer at the end. Needs no valid plan: labels and inventory identify the children.
 */
export async function finalize(context: OperatorContext, request: PassRequest): Promise<Outcome> {
  const { resource } = request;
  const pass = beginPass(context, request);
  const deletion = await deletionOptionsOf(pass);

  const preparation = await prepareDeletion(pass, deletion);
  // Afterwards: objects that were just created are among them.
  const remaining = await findRemaining(pass);
  const isAnyRemaining = remaining.objects.length > 0 || remaining.problems.length > 0;
  const orphaningProblem = isAnyRemaining ? await recordOrphaning(pass) : undefined;
  // Orphaning keeps everything as it is.
  const runsOnDelete = !deletion.skipsOnDelete && !deletion.isForced;
  const blockers =
    preparation.isDone && !isOrphaning(pass) ? await removalBlockers(pass, { runsOnDelete }) : [];
  if (preparation.isDone && orphaningProblem === undefined && blockers.length === 0)
    pass.effects.pruned.push(...(await removeInOrder(pass, remaining, deletion)));
  const unrecorded = [deletion.problem, orphaningProblem].flatMap((problem) => problem ?? []);
  const problems = [
    ...unrecorded,
    ...remaining.problems,
    ...preparation.problems,
    ...blockers,
    ...(await releaseBlockers(pass)),
  ];
  // Only terminating objects may be abandoned: their deletion completes without us. Others would remain for ever.
  const isFinished = (each: PrunedObject) =>
    isRemoved(each) || (deletion.isForced && each.state === 'deleting');
  const isOver =
    preparation.isDone && problems.length === 0 && pass.effects.pruned.every(isFinished);
  const finalizerProblem =
    isOver && hasFinalizer(resource, context.plan.name) ? await removeFinalizer(pass) : undefined;

  pass.dependencies.finish();
  if (isOver && finalizerProblem === undefined) {
    forgetDue(pass.state.ledger);
    return isTerminating(resource) ? finishDeletion(pass) : finishUninstall(pass);
  }
  setDue(pass, 'timeout', shorter(deletion.remainingMs, untilTimeChange(pass)));
  return reportPending(pass, {
    deletion,
    preparation,
    problems: finalizerProblem ? [finalizerProblem] : problems,
  });
}

/** Why features do not let the resource go yet. */
async function releaseBlockers(pass: Pass): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const feature of pass.features) problems.push(...((await feature.mayRelease?.(pass)) ?? []));
  return problems;
}

function finishDeletion(pass: Pass): Outcome {
  const { context, key, effects } = pass;
  const { pruned } = effects;
  context.obstacles.forget(key);
  const count = (state: string) => pruned.filter((each) => each.state === state).length;
  loggerOf(pass).info(
    { pruned: count('deleted'), released: count('released') },
    'Deletion finished',
  );
  return { kind: 'done' };
}

/** The resource is kept, without its children. */
async function finishUninstall(pass: Pass): Promise<Outcome> {
  const { context, key, state, effects } = pass;
  const { pruned } = effects;
  state.isReady = false;
  const status = await reportUninstalled(pass);
  const outcome = outcomeOfProblems(pass, [], status);
  // A failed status write blocks nothing.
  if (outcome.kind === 'retry' || outcome.kind === 'error') return outcome;
  context.obstacles.forget(key);
  if (pruned.length > 0) loggerOf(pass).info({ pruned: pruned.length }, 'Children removed');
  context.uninstall?.onRemoved(key);
  return outcome;
}

interface PendingDeletion {
  readonly deletion: DeletionOptions;
  readonly preparation: Preparation;
  readonly problems: readonly Problem[];
}

async function reportPending(
  pass: Pass,
  { deletion: { isOverdue }, preparation, problems }: PendingDeletion,
): Promise<Outcome> {
  const entries = preparation.isDone
    ? pass.effects.pruned.map((pruned) => describePruned(pass, pruned))
    : await describeOnDelete(pass);
  if (isOverdue && !wasOverdue(pass)) {
    const note = messageOf(entries, problems);
    emitEvent(pass, { type: 'Warning', reason: 'DeletionTimedOut', action: 'Delete', note });
  }
  const status = await reportDeletion(pass, { entries, problems, isOverdue });
  const all = [...problems, ...entries.flatMap(({ problem }) => problem ?? [])];
  reportFailures(pass, { entries, problems: all }, status);
  const isHeld = entries.some(({ heldBy }) => heldBy !== undefined);
  reportHeldDeletion(pass, isHeld ? messageOf(entries, problems) : undefined);
  pass.state.isReady = false;
  publishDecisions(pass, {
    children: entries.map(({ decision }) => decision),
    status: status.kind,
    isReady: false,
    problemCodes: all.map(({ code }) => code),
  });
  return outcomeOfProblems(pass, all, status);
}

/**
 * Handles an object with our finalizer that is no longer a resource of the definition: completes its deletion, or removes the finalizer
 * once it has no children.
 * @returns undefined when nothing is left to do but to remove children.
 */
export async function finalizeUnmatched(
  context: OperatorContext,
  key: string,
  turn: PassTurn,
): Promise<Outcome | undefined> {
  const resource = context.watches.resources.unmatched(key)?.object;
  if (resource === undefined || !hasFinalizer(resource, context.plan.name)) return undefined;
  if (isPaused(resource)) return { kind: 'done' };
  if (isTerminating(resource)) return finalize(context, { key, resource, turn });
  const pass = beginPass(context, { key, resource, turn });
  const { objects, problems } = await findRemaining(pass);
  if (objects.length > 0) return undefined;
  const blockers =
    problems.length > 0 ? problems : await removalBlockers(pass, { runsOnDelete: false });
  const unfinished = blockers.length > 0 ? blockers : [await removeFinalizer(pass)];
  const found = unfinished.flatMap((problem) => problem ?? []);
  if (found.length === 0) return undefined;
  // What it waits for enqueues it.
  pass.dependencies.finish();
  return outcomeOfProblems(pass, found, { kind: 'unchanged' });
}

/**
 * Handles a live resource whose definition is being removed: its children are deleted as if it were deleted, `onDelete` first, or kept. The
 * resource itself is kept.
 */
export async function uninstallResource(
  context: OperatorContext,
  { deletesChildren, onRemoved }: Uninstall,
  options: PassRequest,
): Promise<Outcome> {
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
  if (pass.features.some((feature) => feature.keepsFinalizer?.(pass) === true)) return;
  if (!pass.effects.pruned.every(isRemoved)) return;
  const removed = new Set(pass.effects.pruned.map(identityOfObject));
  const { objects, problems } = await findRemaining(pass);
  const needsUs = objects.some(
    (stored) => !removed.has(identityOfObject(stored)) && !isControlledBy(stored.object, pass.uid),
  );
  const problem = problems[0] ?? (needsUs ? undefined : await removeFinalizer(pass));
  if (problem !== undefined) pass.effects.finalizerProblem = problem;
}
