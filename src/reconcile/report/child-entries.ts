import type { ChildPlan, Phase } from '../../compile/index.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import { verdictOf } from '../child/element-result.ts';
import { readinessOfElement } from '../child/readiness.ts';
import type { ChildDecision, Verdict } from '../decision.ts';
import type { Problem, ProblemReason } from '../failure.ts';
import { childPlanOf } from '../ownership/is-child.ts';
import { ownNamespace } from '../ownership/placement.ts';
import type { ChildResult, ElementResult, Pass, PrunedObject } from '../pass/pass.ts';
import { type Confidence, isNameOpen, unaccounted } from '../secrecy.ts';

/** What the report says of one object. */
export interface ChildEntry {
  readonly decision: ChildDecision;
  /** What messages may say of it. */
  readonly about: Confidence;
  /** Does it stand in `status.children`? Not what is neither wanted nor there. */
  readonly isListed: boolean;
  /** Does it stand there without name and namespace, which may come from a Secret and which no object has? @default false */
  readonly isNameless?: boolean;
  readonly problem?: Problem;
  /** It is on its way out, and waits only for others that are. @default false */
  readonly isQueued?: boolean;
  /** Why it is not ready, as a reason of `Ready`; undefined: it is, or is on its way out. */
  readonly reason?: ProblemReason | 'ChildFailed' | 'DeletionsHeld' | 'Progressing';
}

/** All children in definition order, with what is on its way out last. */
export async function describeChildren(pass: Pass, phase: Phase): Promise<readonly ChildEntry[]> {
  const entries: ChildEntry[] = [];
  for (const plan of pass.context.plan.children) {
    const result = pass.did.children.get(plan.id);
    if (result !== undefined) entries.push(...(await describeChild(pass, phase, result)));
  }
  for (const pruned of pass.did.pruned) entries.push(describePruned(pass, pruned));
  return entries;
}

/** What `onDelete` has made. */
export async function describeOnDelete(pass: Pass): Promise<readonly ChildEntry[]> {
  const entries: ChildEntry[] = [];
  for (const { id } of pass.context.plan.onDelete?.children ?? []) {
    const result = pass.did.children.get(id);
    if (result !== undefined) entries.push(...(await describeChild(pass, pass.wanting, result)));
  }
  return entries;
}

async function describeChild(
  pass: Pass,
  phase: Phase,
  { plan, resolution, elements }: ChildResult,
): Promise<readonly ChildEntry[]> {
  if (resolution === 'unwanted') return [unwanted(pass, plan)];
  const entries: ChildEntry[] = [];
  for (const element of elements) {
    if (pass.budget.isDue) await pass.budget.pause();
    entries.push(await describeElement(pass, phase, element));
  }
  return entries;
}

async function describeElement(
  pass: Pass,
  phase: Phase,
  element: ElementResult,
): Promise<ChildEntry> {
  const { plan, name, verdict, problem } = element;
  const { state, message } = await readinessOfElement(phase, element);
  const identity = identityOf(pass, plan, element);
  const decision = { ...identity, name, verdict, state, message };
  const isNameless = !isNameOpen(plan) && element.live === undefined;
  const entry = { decision, about: plan, isListed: true, isNameless };
  if (problem !== undefined) return { ...entry, problem, reason: problem.reason };
  if (state === 'Ready') return entry;
  return { ...entry, reason: state === 'Failed' ? 'ChildFailed' : 'Progressing' };
}

function unwanted(pass: Pass, plan: ChildPlan): ChildEntry {
  const verdict: Verdict = { kind: 'unwanted' };
  const decision = {
    ...identityOf(pass, plan),
    name: '',
    verdict,
    state: 'Ready',
    message: '',
  } as const;
  return { decision, about: plan, isListed: false };
}

/** What is on its way out. */
export function describePruned(
  pass: Pass,
  {
    childId,
    object,
    state,
    problem,
    isQueued = false,
    isGuarded = false,
    message = '',
  }: PrunedObject,
): ChildEntry {
  const plan = childPlanOf(pass, object);
  const about = plan ?? unaccounted;
  const decision = {
    childId,
    apiVersion: object.apiVersion,
    kind: object.kind,
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
    return {
      decision: { ...decision, ...failed },
      about,
      isListed: true,
      problem,
      reason: problem.reason,
    };
  }
  const leaving = {
    verdict: { kind: state === 'held' || state === 'released' ? state : 'pruned' },
    state: 'Deleting',
    message,
  } as const;
  return {
    decision: { ...decision, ...leaving },
    about,
    isListed: state === 'deleting' || state === 'held',
    isQueued,
    ...(isGuarded && { reason: 'DeletionsHeld' }),
  };
}

function identityOf(pass: Pass, plan: ChildPlan, element?: ElementResult) {
  const { namespace } = element?.live?.object.metadata ?? element ?? {};
  return {
    childId: plan.id,
    apiVersion: apiVersionOf(plan.gvk),
    kind: plan.gvk.kind,
    namespace: namespace ?? ownNamespace(pass, plan) ?? '',
    line: plan.line,
  };
}
