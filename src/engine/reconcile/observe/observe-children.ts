import type { ChildPlan, ExpressionInput } from '#compile';
import { kindsOf } from '#definition';
import type { StoredObject } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { kindAt } from '../identity.ts';
import { childrenOf } from '../ownership/is-child.ts';
import { isTerminating } from '../ownership-claims.ts';
import { unavailable } from '../pass/other-clusters.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { objectsChanged } from '../watch/object-change.ts';
import { isElsewhere } from '../where.ts';
import { watchesOf } from './child-watches.ts';
import { finishedObjectsOf } from './finished-objects.ts';

/** Observes the children that expressions read under `observed`, at the start of the pass. */
export async function observeChildren(pass: Pass): Promise<void> {
  const { observed } = pass.context.plan;
  // Names first: the name of a child may depend on another observed child.
  await Promise.all(observed.map((id) => nameChild(pass, planOf(pass, id))));
  for (const id of observed) {
    const objects = currentObjects(pass, planOf(pass, id));
    pass.findings.observed.set(id, { first: objects, objects });
    pass.desiredPhase.setObserved(id, inputOf(planOf(pass, id), objects));
  }
}

/** Stores the name of a child if it is known before rendering: then only objects of that name count. */
async function nameChild(
  { desiredPhase, findings: { names } }: Pass,
  { id, isList }: ChildPlan,
): Promise<void> {
  if (isList) return;
  const name = await desiredPhase.name(id, { item: undefined, index: 0 });
  if (name.kind === 'value') names.set(id, name.value);
}

/** The `observed` input of the report. */
export function observedForReport(pass: Pass): ReadonlyMap<string, ExpressionInput> {
  const inputs = new Map<string, ExpressionInput>();
  for (const id of pass.context.plan.observed) {
    const plan = planOf(pass, id);
    const objects = currentObjects(pass, plan);
    const isUnknown = objects === undefined && isElsewhere(plan);
    inputs.set(id, isUnknown ? { state: 'unknown' } : inputOf(plan, objects));
  }
  return inputs;
}

/** Does the child's intent depend on its own object? Then changes by others must be observed before they are overwritten. */
export function observesItself({ id, childrenObserved }: ChildPlan): boolean {
  return childrenObserved.includes(id);
}

/** Was the intent of a child that observes itself rendered without this object? */
export function isUnobserved(pass: Pass, plan: ChildPlan, { object }: StoredObject): boolean {
  if (!observesItself(plan)) return false;
  const { uid, resourceVersion } = object.metadata;
  const observed = pass.findings.observed.get(plan.id)?.objects ?? [];
  return !observed.some(
    ({ object: { metadata } }) =>
      metadata.uid === uid && metadata.resourceVersion === resourceVersion,
  );
}

/** Adds an object to the observed children of the pass. It was read from the server or found in the cache by name, and may lack labels. */
export function addObserved(pass: Pass, plan: ChildPlan, found: StoredObject): void {
  const known = pass.findings.observed.get(plan.id);
  if (known === undefined) return;
  const { uid } = found.object.metadata;
  const others = (known.objects ?? []).filter(({ object }) => object.metadata.uid !== uid);
  const objects = [...others, found].sort(byName);
  pass.findings.observed.set(plan.id, { ...known, objects });
  pass.desiredPhase.setObserved(plan.id, inputOf(plan, objects));
}

/** The first path that changed since expressions outside the status read it, by this pass or others. */
export function observedPathChanged(pass: Pass): readonly string[] | undefined {
  for (const [id, { first }] of pass.findings.observed) {
    const plan = planOf(pass, id);
    if (plan.pathsObserved.length === 0) continue;
    const path = objectsChanged(first, currentObjects(pass, plan), plan.pathsObserved);
    if (path !== undefined) return ['observed', id, ...path];
  }
  return undefined;
}

/** All objects of a child, including those being deleted, by name; undefined: the informer has not synced. */
function currentObjects(pass: Pass, plan: ChildPlan): readonly StoredObject[] | undefined {
  if (!isAllListed(pass, plan)) return undefined;
  const labelled = watchesOf(pass, plan).flatMap(({ labelledWith }) => labelledWith(pass.uid));
  const found = childrenOf(pass, plan, labelled);
  const finished = finishedObjectsOf(pass, plan, found);
  for (const stored of finished) pass.others?.note(stored);
  return [...found, ...replacedOf(pass, plan, found), ...finished].sort(byName);
}

/** Are all objects of a child known, in every cluster that may have one? */
export function isAllListed(pass: Pass, plan: ChildPlan): boolean {
  if (!isElsewhere(plan))
    return watchesOf(pass, plan).every(({ informer }) => informer.state.kind === 'synced');
  return [...(pass.others?.places ?? [])].every((cluster) =>
    kindsOf(plan).every((gvk) => unavailable(pass, kindAt(gvk, cluster)) === undefined),
  );
}

/** Objects that were deleted to be recreated. */
function replacedOf(
  { state }: PassInput,
  plan: ChildPlan,
  found: readonly StoredObject[],
): readonly StoredObject[] {
  return [...state.replaced.values()]
    .filter(({ childId }) => childId === plan.id)
    .map(({ stored }) => stored)
    .filter(
      ({ object }) => !found.some((each) => each.object.metadata.uid === object.metadata.uid),
    );
}

function inputOf(plan: ChildPlan, stored: readonly StoredObject[] | undefined): ExpressionInput {
  if (stored === undefined) return { state: 'waiting', on: `the list of ${plan.gvk.kind} objects` };
  const objects = stored.map(({ object }) => object);
  if (plan.isList) return { state: 'present', value: objects };
  const [newest] = [...objects].sort(byAge);
  return newest === undefined ? { state: 'absent' } : { state: 'present', value: newest };
}

/** A renamed child has two objects for a while: the one that is not being deleted, or the newer one, counts. */
function byAge(a: KubeObject, b: KubeObject): number {
  const leaving = Number(isTerminating(a)) - Number(isTerminating(b));
  if (leaving !== 0) return leaving;
  return order(b.metadata.creationTimestamp ?? '', a.metadata.creationTimestamp ?? '');
}

function byName({ object: a }: StoredObject, { object: b }: StoredObject): number {
  return (
    order(a.metadata.namespace ?? '', b.metadata.namespace ?? '') ||
    order(a.metadata.name, b.metadata.name)
  );
}

function order(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function planOf({ context }: PassInput, id: string): ChildPlan {
  const { children, onDelete } = context.plan;
  const plan = [...children, ...(onDelete?.children ?? [])].find((child) => child.id === id);
  if (plan === undefined) throw new Error(`The plan has no child "${id}"`);
  return plan;
}
