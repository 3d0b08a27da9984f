import type { ChildPlan, Phase } from '#compile';
import { apiVersionOf } from '#util/gvk.ts';
import { verdictOf, verdictOfElement } from '../child/element-result.ts';
import { readinessOfElement } from '../child/readiness.ts';
import type { ChildDecision, Verdict } from '../decision.ts';
import type { Problem, ProblemReason } from '../failure.ts';
import { childPlanOf } from '../ownership/is-child.ts';
import { ownNamespace } from '../ownership/namespace-of.ts';
import type { ChildResult, ElementResult, Pass, PrunedObject } from '../pass/pass.ts';
import { type Disclosure, isNamePublic, unknownOrigin } from '../secrecy.ts';

/** One object in the report. */
export interface ChildEntry {
  readonly decision: ChildDecision;
  /** What messages may disclose of it. */
  readonly about: Disclosure;
  /** Is it in `status.children`? Children that are neither desired nor exist are not. */
  readonly isListed: boolean;
  readonly problem?: Problem;
  /** Its deletion waits only for other deletions. @default false */
  readonly isQueued?: boolean;
  /** See {@link PrunedObject.heldBy}. */
  readonly heldBy?: string;
  /** Why it is not ready, as a reason of `Ready`; undefined: it is ready or being deleted. */
  readonly reason?: ProblemReason | 'ChildFailed' | 'Progressing';
}

/** All children in definition order, then the objects being deleted. */
export async function describeChildren(pass: Pass, phase: Phase): Promise<readonly ChildEntry[]> {
  const entries: ChildEntry[] = [];
  for (const plan of pass.context.plan.children) {
    const result = pass.effects.children.get(plan.id);
    if (result !== undefined) entries.push(...(await describeChild(pass, phase, result)));
  }
  for (const pruned of pass.effects.pruned) entries.push(describePruned(pass, pruned));
  return entries;
}

/** The children of `onDelete`. */
export async function describeOnDelete(pass: Pass): Promise<readonly ChildEntry[]> {
  const entries: ChildEntry[] = [];
  for (const { id } of pass.context.plan.onDelete?.children ?? []) {
    const result = pass.effects.children.get(id);
    if (result !== undefined)
      entries.push(...(await describeChild(pass, pass.desiredPhase, result)));
  }
  return entries;
}

async function describeChild(
  pass: Pass,
  phase: Phase,
  { plan, resolution, elements }: ChildResult,
): Promise<readonly ChildEntry[]> {
  if (resolution === 'omitted') return [unwanted(pass, plan)];
  const entries: ChildEntry[] = [];
  for (const element of elements) {
    if (pass.budget.shouldPause) await pass.budget.pause();
    entries.push(await describeElement(pass, phase, element));
  }
  return entries;
}

async function describeElement(
  pass: Pass,
  phase: Phase,
  element: ElementResult,
): Promise<ChildEntry> {
  const { plan, name, problem } = element;
  const { state, message } = await readinessOfElement(phase, element);
  const identity = identityOf(pass, plan, element);
  const isNameless = !isNamePublic(plan) && element.live === undefined;
  const verdict = verdictOfElement(element);
  const decision = {
    ...identity,
    name,
    ...(isNameless && { isNameless }),
    verdict,
    state,
    message,
  };
  const entry = { decision, about: plan, isListed: true };
  if (problem !== undefined) return { ...entry, problem, reason: problem.reason };
  if (state === 'Ready') return entry;
  return { ...entry, reason: state === 'Failed' ? 'ChildFailed' : 'Progressing' };
}

function unwanted(pass: Pass, plan: ChildPlan): ChildEntry {
  const omitted = { name: '', verdict: { kind: 'omitted' }, state: 'Ready', message: '' } as const;
  return { decision: { ...identityOf(pass, plan), ...omitted }, about: plan, isListed: false };
}

/** The entry of an object that is being deleted. */
export function describePruned(
  pass: Pass,
  {
    childId,
    object,
    cluster,
    state,
    problem,
    isQueued = false,
    isGuarded = false,
    deferred,
    heldBy,
    message = '',
  }: PrunedObject,
): ChildEntry {
  const plan = childPlanOf(pass, { object, cluster });
  const about = plan ?? unknownOrigin;
  const decision = {
    childId,
    apiVersion: object.apiVersion,
    kind: object.kind,
    ...placeOf(cluster),
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name,
    line: plan?.line ?? 0,
  };
  if (problem !== undefined) {
    const failed = {
      verdict: verdictOf(problem),
      state: 'Failed',
      message: problem.message,
    } as const;
    const { reason } = problem;
    return { decision: { ...decision, ...failed }, about, isListed: true, problem, reason };
  }
  const kind = state === 'held' || state === 'released' ? state : 'pruned';
  const verdict: Verdict = { kind, ...(deferred && { deferred }) };
  const leaving = { verdict, state: 'Deleting', message } as const;
  return {
    decision: { ...decision, ...leaving },
    about,
    isListed: state === 'deleting' || state === 'held',
    isQueued,
    ...(heldBy !== undefined && { heldBy }),
    ...(isGuarded && { reason: 'DeletionsHeld' }),
  };
}

function placeOf(cluster: string | undefined): { readonly cluster?: string } {
  return cluster === undefined ? {} : { cluster };
}

function identityOf(pass: Pass, plan: ChildPlan, element?: ElementResult) {
  const { namespace } = element?.live?.object.metadata ?? element ?? {};
  return {
    childId: plan.id,
    apiVersion: apiVersionOf(plan.gvk),
    kind: plan.gvk.kind,
    ...placeOf(element?.cluster),
    namespace: namespace ?? ownNamespace(pass, plan, element?.cluster) ?? '',
    line: plan.line,
  };
}
