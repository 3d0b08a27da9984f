import type { ChildPlan, Element, Seen } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Verdict } from '../decision.ts';
import type { Problem } from '../failure.ts';
import type { Intent } from '../intent/intent.ts';
import { isTerminating } from '../owner.ts';
import { childrenOf } from '../ownership/is-child.ts';
import type { ChildResult, ElementResult, Pass } from '../pass/pass.ts';

/** One element to be made. */
export interface WantedElement {
  readonly plan: ChildPlan;
  readonly element: Element;
  readonly intent: Intent;
  /** What has to be ready first, for people: it holds its creation and every change of its intent. */
  readonly held: readonly string[];
  /** Is that only other elements of its own child, so that what else there is to do is known? @default false */
  readonly isInTurn?: boolean;
  /** Are fields taken from other managers? @default true, unless the child says `conflicts: Report` */
  readonly force?: boolean;
}

/** An element that is as wanted. */
export function settledElement(
  { plan, element, intent }: WantedElement,
  verdict: Verdict,
  live: StoredObject,
): ElementResult {
  return { plan, element, ...placeOf(intent), verdict, live };
}

/** An element with something in its way. `live`: what exists of it all the same. */
export function hinderedElement(
  { plan, element, intent }: WantedElement,
  problem: Problem,
  live?: StoredObject,
): ElementResult {
  const result = { plan, element, ...placeOf(intent), verdict: verdictOf(problem), problem };
  return live === undefined ? result : { ...result, live };
}

function placeOf({ ref: { name, namespace } }: Intent): Pick<ElementResult, 'name' | 'namespace'> {
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

/** What was done stays done; but something is not as wanted all the same. */
export function withProblem(result: ElementResult, problem: Problem | undefined): ElementResult {
  if (problem === undefined || result.problem !== undefined) return result;
  const isDone = result.verdict.kind !== 'unchanged';
  return { ...result, problem, verdict: isDone ? result.verdict : verdictOf(problem) };
}

export interface Blocked {
  readonly plan: ChildPlan;
  readonly element: Element | undefined;
  /** What it would be called; empty when that is not known either. */
  readonly name: string;
  readonly problem: Problem;
}

/** An element that could not be rendered: what exists of it stays as it is. */
export function blockedElement(
  pass: Pass,
  { plan, element, name: wantedName, problem }: Blocked,
): ElementResult {
  if (!plan.isList && wantedName !== '') pass.found.names.set(plan.id, wantedName);
  // Without a name only a child that is no list can be found: by its label.
  const live = plan.isList ? undefined : liveOf(pass, plan)[0];
  const name = live?.object.metadata.name ?? wantedName;
  const result = { plan, element, name, verdict: verdictOf(problem), problem };
  return live === undefined ? result : { ...result, live };
}

/** What a problem means for the decision record. */
export function verdictOf(problem: Problem): Verdict {
  if (problem.owner !== undefined) return { kind: 'conflict', owner: problem.owner };
  if (problem.reason === 'Waiting' || problem.reason === 'KindMissing') {
    return { kind: 'waiting', on: problem.on ?? [problem.message] };
  }
  return { kind: 'failed', code: problem.code, permanent: problem.kind !== 'temporary' };
}

/** The objects of a child that are there, ours and not being deleted, by name. */
export function liveOf(pass: Pass, plan: ChildPlan): readonly StoredObject[] {
  const labelled = pass.context.watches.children(plan.gvk).labelledWith(pass.uid);
  return childrenOf(pass, plan, labelled)
    .filter(({ object }) => !isTerminating(object))
    .sort((a, b) => (a.object.metadata.name < b.object.metadata.name ? -1 : 1));
}

/** What later tiers see of a child: what exists; they wait while it, or an element of it, does not. */
export function seenWhileWanting({ plan, resolution, elements }: ChildResult): Seen {
  if (resolution === 'unwanted') return { state: 'absent' };
  const objects = elements.map(({ live }) => live?.object);
  if (!objects.every((object) => object !== undefined)) {
    return { state: 'waiting', on: `children.${plan.id}` };
  }
  return present(plan.isList, objects);
}

/** What the report sees of a child: nothing waits, what does not exist is missing. */
export function seenWhileReporting(pass: Pass, { plan, resolution, elements }: ChildResult): Seen {
  if (resolution === 'unwanted') return { state: 'absent' };
  const rendered = elements.flatMap(({ live }) => (live === undefined ? [] : [live]));
  // Elements whose names are not known now stay as they are: they are reported as they are.
  const objects = plan.isList && resolution === 'unknown' ? liveOf(pass, plan) : rendered;
  return present(
    plan.isList,
    objects.map(({ object }) => object),
  );
}

function present(isList: boolean, objects: readonly KubeObject[]): Seen {
  if (isList) return { state: 'present', value: objects };
  const [object] = objects;
  return object === undefined ? { state: 'absent' } : { state: 'present', value: object };
}
