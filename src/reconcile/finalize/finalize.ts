import type { Outcome } from '../../controller/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Problem } from '../failure.ts';
import { hasFinalizer, isTerminating } from '../owner.ts';
import type { OperatorContext, PassTurn } from '../pass/context.ts';
import {
  beginPass,
  type Given,
  isDone,
  loggerOf,
  type Pass,
  type PrunedObject,
} from '../pass/pass.ts';
import { stateOf } from '../pass/resource-state.ts';
import { type ChildEntry, describeOnDelete, describePruned } from '../report/child-entries.ts';
import { concludeProblems } from '../report/conclude.ts';
import { tellFailures } from '../report/tell-failures.ts';
import { takeOffFinalizer } from '../resource/write-metadata.ts';
import type { StatusOutcome } from '../resource/write-status.ts';
import { messageOf, reportDeletion, reportRetired, wasOverdue } from './deletion-report.ts';
import { type DeletionTerms, termsOf } from './deletion-terms.ts';
import { keepOrphaning } from './note-orphaning.ts';
import { type Preparation, prepareDeletion } from './prepare-deletion.ts';
import { removeInOrder } from './remove-in-order.ts';
import { type Left, whatIsLeft } from './what-is-left.ts';

export interface FinalizeOptions {
  readonly key: string;
  /** Being deleted, with our finalizer; or one whose definition is being removed. */
  readonly resource: KubeObject;
  readonly turn: PassTurn;
}

/**
 * Brings the deletion of a resource to its end (definition.md section 7): makes `onDelete.children`, removes the children in order, and
 * takes our finalizer off when nothing is left. Needs no valid plan: what belongs to the resource is told by labels and inventory.
 */
export async function finalize(
  context: OperatorContext,
  { key, resource, turn }: FinalizeOptions,
): Promise<Outcome> {
  const state = stateOf(context, key, resource);
  const pass = beginPass({ context, key, resource, state, turn });
  const terms = await termsOf(pass);

  const preparation = await prepareDeletion(pass, terms);
  // Afterwards: what was just made is left, too.
  const left = await whatIsLeft(pass);
  const isAnyLeft = left.objects.length > 0 || left.problems.length > 0;
  const unsaid = isAnyLeft ? await keepOrphaning(pass) : undefined;
  if (preparation.isDone && unsaid === undefined)
    pass.did.pruned.push(...(await removeInOrder(pass, left, terms)));
  const unnoted = [terms.problem, unsaid].flatMap((problem) => problem ?? []);
  const problems = [...unnoted, ...left.problems, ...preparation.problems];
  // Only what is on its way out is given up: it goes without us. What was not asked for, or not seen, would stay for ever.
  const isLetGo = (each: PrunedObject) =>
    isDone(each) || (terms.givesUp && each.state === 'deleting');
  const isOver = preparation.isDone && problems.length === 0 && pass.did.pruned.every(isLetGo);
  const refused =
    isOver && hasFinalizer(resource, context.plan.name) ? await takeOffFinalizer(pass) : undefined;

  pass.dependencies.finish();
  if (isOver && refused === undefined)
    return isTerminating(resource) ? finished(pass) : retired(pass);
  return stillWaiting(pass, { terms, preparation, left, problems: refused ? [refused] : problems });
}

function finished(pass: Pass): Outcome {
  const {
    context,
    key,
    did: { pruned },
  } = pass;
  context.rights.retain(key, []);
  const count = (state: string) => pruned.filter((each) => each.state === state).length;
  loggerOf(pass).info({ pruned: count('gone'), released: count('released') }, 'Deletion finished');
  return { kind: 'done' };
}

/** The resource lives on without its children. */
async function retired(pass: Pass): Promise<Outcome> {
  const {
    context,
    key,
    state,
    did: { pruned },
  } = pass;
  state.isReady = false;
  const status = await reportRetired(pass);
  const outcome = concludeProblems(pass, [], status);
  // What cannot be told does not keep anything.
  if (outcome.kind === 'retry') return outcome;
  context.rights.retain(key, []);
  if (pruned.length > 0) loggerOf(pass).info({ pruned: pruned.length }, 'Children removed');
  context.retirement?.onRemoved(key);
  return outcome;
}

interface Waiting {
  readonly terms: DeletionTerms;
  readonly preparation: Preparation;
  readonly left: Left;
  readonly problems: readonly Problem[];
}

async function stillWaiting(pass: Pass, waiting: Waiting): Promise<Outcome> {
  const { terms, problems } = waiting;
  const entries = await entriesOf(pass, waiting);
  const report = { entries, problems, isOverdue: terms.isOverdue };
  if (terms.isOverdue && !wasOverdue(pass)) tellOverdue(pass, messageOf(entries, problems));
  const status = await reportDeletion(pass, report);
  const all = [...problems, ...entries.flatMap(({ problem }) => problem ?? [])];
  tellFailures(pass, { entries, problems: all }, status);
  record(pass, entries, { all, status });
  const outcome = concludeProblems(pass, all, status);
  return noLaterThan(outcome, terms.remainingMs);
}

/** The end of `onDelete.timeout` is not to be slept through. */
function noLaterThan(outcome: Outcome, remainingMs: number | undefined): Outcome {
  const isInTime = 'afterMs' in outcome && outcome.afterMs <= (remainingMs ?? Infinity);
  if (remainingMs === undefined || isInTime || outcome.kind === 'retry') return outcome;
  return { kind: 'requeue', afterMs: remainingMs, reason: 'Terminating' };
}

async function entriesOf(pass: Pass, { preparation }: Waiting): Promise<readonly ChildEntry[]> {
  if (!preparation.isDone) return describeOnDelete(pass);
  return pass.did.pruned.map((pruned) => describePruned(pass, pruned));
}

function tellOverdue({ context, resource }: Given, note: string): void {
  context.cluster.events.record({
    regarding: resource,
    type: 'Warning',
    reason: 'DeletionTimedOut',
    action: 'Delete',
    note,
    definition: context.plan.name,
  });
}

function record(
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
