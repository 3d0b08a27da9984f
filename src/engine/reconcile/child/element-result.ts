import type { ChildPlan, Element, ExpressionInput } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Verdict } from '../decision.ts';
import type { Problem } from '../failure.ts';
import type { Intent } from '../intent/intent.ts';
import { watchesOf } from '../observe/child-watches.ts';
import { isAllListed } from '../observe/observe-children.ts';
import { childrenOf } from '../ownership/is-child.ts';
import { isTerminating } from '../ownership-claims.ts';
import type { ChildResult, ElementResult, Pass } from '../pass/pass.ts';
import { isElsewhere } from '../where.ts';
import type { BlockedElement } from './resolve-child.ts';

/** An element to apply. */
export interface DesiredElement {
  readonly plan: ChildPlan;
  readonly element: Element;
  readonly intent: Intent;
  /** What must be ready first, for people: creation and intent changes wait for it. */
  readonly waitingFor: readonly string[];
  /** Does it wait only for elements of its own child? Then its desired state is known. @default false */
  readonly waitsForElements?: boolean;
  /** Are fields of other managers overwritten? @default true, unless the child has `conflicts: Report` */
  readonly force?: boolean;
}

/** The result of an element that is as desired. `change`: what was done to the object. @default nothing */
export function appliedResult(
  { plan, element, intent }: DesiredElement,
  live: StoredObject,
  change?: ElementResult['change'],
): ElementResult {
  return { plan, element, ...placeOf(intent), live, ...(change && { change }) };
}

/** The result of an element with a problem. `live`: the existing object, if any. */
export function problemResult(
  { plan, element, intent }: DesiredElement,
  problem: Problem,
  live?: StoredObject,
): ElementResult {
  const result = { plan, element, ...placeOf(intent), problem };
  return live === undefined ? result : { ...result, live };
}

function placeOf({ ref: { gvk, name, namespace } }: Intent) {
  return { name, namespace, cluster: gvk.cluster };
}

/** Is the element in a cluster that cannot be used now? Then no other element waits for it. */
export function isUnreachable({ problem }: ElementResult): boolean {
  return problem?.reason === 'ClusterUnreachable';
}

/** Adds a problem to a result. */
export function withProblem(result: ElementResult, problem: Problem | undefined): ElementResult {
  return problem === undefined || result.problem !== undefined ? result : { ...result, problem };
}

interface UnrenderedElement {
  readonly plan: ChildPlan;
  readonly each: BlockedElement;
  /** The desired name; empty if unknown. */
  readonly name: string;
}

/** The result of an element that could not be rendered: its object is kept as it is. */
export function unrenderedResult(
  pass: Pass,
  { plan, each: { element, problem, cluster }, name: wantedName }: UnrenderedElement,
): ElementResult {
  if (!plan.isList && wantedName !== '') pass.findings.names.set(plan.id, wantedName);
  // Without a name only a child without `forEach` can be found, by its label.
  const live = plan.isList ? undefined : liveOf(pass, plan)[0];
  const name = live?.object.metadata.name ?? wantedName;
  const result = { plan, element, name, cluster, problem };
  return live === undefined ? result : { ...result, live };
}

/** What the pass did to the object of an element, or why it did nothing. */
export function verdictOfElement({ change, problem }: ElementResult): Verdict {
  return change ?? (problem === undefined ? { kind: 'unchanged' } : verdictOf(problem));
}

/** The verdict of a problem. */
export function verdictOf(problem: Problem): Verdict {
  if (problem.owner !== undefined) return { kind: 'conflict', owner: problem.owner };
  if (isWaitingReason(problem)) {
    return { kind: 'waiting', on: problem.waitingFor ?? [problem.message] };
  }
  return { kind: 'failed', code: problem.code, permanent: problem.kind !== 'temporary' };
}

const waitingReasons: ReadonlySet<Problem['reason']> = new Set<Problem['reason']>([
  'Waiting',
  'KindMissing',
  'ClusterUnreachable',
  'DeletionsHeld',
]);

/** Is nothing wrong: does it only wait for something that may come at any time? */
export function isWaitingReason({ reason }: Problem): boolean {
  return waitingReasons.has(reason);
}

/** The existing objects of a child that are not being deleted, by name. */
export function liveOf(pass: Pass, plan: ChildPlan): readonly StoredObject[] {
  const labelled = watchesOf(pass, plan).flatMap(({ labelledWith }) => labelledWith(pass.uid));
  return childrenOf(pass, plan, labelled)
    .filter(({ object }) => !isTerminating(object))
    .sort((a, b) => (a.object.metadata.name < b.object.metadata.name ? -1 : 1));
}

/** The child as input of later tiers: they wait while it, or an element of it, does not exist. */
export function inputForChildren({ plan, resolution, elements }: ChildResult): ExpressionInput {
  if (resolution === 'omitted') return undesired(plan);
  const objects = elements.map(({ live }) => live?.object);
  if (!objects.every((object) => object !== undefined)) {
    return { state: 'waiting', on: `children.${plan.id}` };
  }
  return presentInput(plan.isList, objects);
}

/** The child as input of the report: nothing waits; missing objects are absent. */
export function inputForReport(
  pass: Pass,
  { plan, resolution, elements }: ChildResult,
): ExpressionInput {
  if (resolution === 'omitted') return undesired(plan);
  if (elements.some(({ problem }) => problem?.isUnknown === true)) return { state: 'unknown' };
  // Its elements may be in clusters that cannot be reached.
  if (resolution === 'unknown' && isElsewhere(plan) && !isAllListed(pass, plan))
    return { state: 'unknown' };
  const rendered = elements.flatMap(({ live }) => (live === undefined ? [] : [live]));
  // Elements with unknown names are kept, and so reported as they are.
  const objects = plan.isList && resolution === 'unknown' ? liveOf(pass, plan) : rendered;
  return presentInput(
    plan.isList,
    objects.map(({ object }) => object),
  );
}

function undesired({ id }: ChildPlan): ExpressionInput {
  return { state: 'absent', why: `"when" of child "${id}" is false` };
}

export function presentInput(isList: boolean, objects: readonly KubeObject[]): ExpressionInput {
  if (isList) return { state: 'present', value: objects };
  const [object] = objects;
  return object === undefined ? { state: 'absent' } : { state: 'present', value: object };
}
