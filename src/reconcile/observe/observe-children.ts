import type { ChildPlan, Seen } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { isTerminating } from '../owner.ts';
import { childrenOf } from '../ownership/is-child.ts';
import type { Given, Pass } from '../pass/pass.ts';
import { objectsChanged } from '../wake/object-change.ts';

/** Looks at all that expressions see under `observed`, as the pass begins. */
export async function observeChildren(pass: Pass): Promise<void> {
  const { observed } = pass.context.plan;
  // First: what is observed of one may make the name of another.
  await Promise.all(observed.map((id) => nameChild(pass, planOf(pass, id))));
  for (const id of observed) {
    const objects = objectsNow(pass, planOf(pass, id));
    pass.found.observed.set(id, { first: objects, objects });
    pass.wanting.setObserved(id, seenOf(planOf(pass, id), objects));
  }
}

/** What of its name is known before anything is rendered: only what has that name counts. */
async function nameChild(
  { wanting, found: { names } }: Pass,
  { id, isList }: ChildPlan,
): Promise<void> {
  if (isList) return;
  const name = await wanting.name(id, { item: undefined, index: 0 });
  if (name.kind === 'value') names.set(id, name.value);
}

/** What `observed` is for the report. */
export function observedForReport(pass: Pass): ReadonlyMap<string, Seen> {
  const seen = new Map<string, Seen>();
  for (const id of pass.context.plan.observed) {
    const plan = planOf(pass, id);
    seen.set(id, seenOf(plan, objectsNow(pass, plan)));
  }
  return seen;
}

/** Does the child's own intent depend on what there is of it? Then what somebody else has there must not be overwritten unseen. */
export function observesItself({ id, childrenObserved }: ChildPlan): boolean {
  return childrenObserved.includes(id);
}

/** Was the intent of a child made without this object, though it looks at its own? */
export function isUnseen(pass: Pass, plan: ChildPlan, { object }: StoredObject): boolean {
  if (!observesItself(plan)) return false;
  const { uid, resourceVersion } = object.metadata;
  const seen = pass.found.observed.get(plan.id)?.objects ?? [];
  return !seen.some(
    ({ object: { metadata } }) =>
      metadata.uid === uid && metadata.resourceVersion === resourceVersion,
  );
}

/**
 * An object of a child enters the world of the pass: read from the server, or found in the cache by its name. Labels may not lead to it.
 */
export function observeAlso(pass: Pass, plan: ChildPlan, found: StoredObject): void {
  const known = pass.found.observed.get(plan.id);
  if (known === undefined) return;
  const { uid } = found.object.metadata;
  const others = (known.objects ?? []).filter(({ object }) => object.metadata.uid !== uid);
  const objects = [...others, found].sort(byName);
  pass.found.observed.set(plan.id, { ...known, objects });
  pass.wanting.setObserved(plan.id, seenOf(plan, objects));
}

/** The first path that expressions outside the status have seen another value at than there is now: the pass changed it, or somebody else. */
export function observedPathChanged(pass: Pass): readonly string[] | undefined {
  for (const [id, { first }] of pass.found.observed) {
    const plan = planOf(pass, id);
    if (plan.pathsObserved.length === 0) continue;
    const path = objectsChanged(first, objectsNow(pass, plan), plan.pathsObserved);
    if (path !== undefined) return ['observed', id, ...path];
  }
  return undefined;
}

/** All objects of a child, those being deleted too, by name; undefined: the informer cannot tell. */
function objectsNow(pass: Pass, plan: ChildPlan): readonly StoredObject[] | undefined {
  const { informer, labelledWith } = pass.context.watches.children(plan.gvk);
  if (informer.state.kind !== 'synced') return undefined;
  const found = childrenOf(pass, plan, labelledWith(pass.uid));
  return [...found, ...replacedOf(pass, plan, found)].sort(byName);
}

/** What is gone only to be made anew. */
function replacedOf(
  { state }: Given,
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

function seenOf(plan: ChildPlan, stored: readonly StoredObject[] | undefined): Seen {
  if (stored === undefined) return { state: 'waiting', on: `the list of ${plan.gvk.kind} objects` };
  const objects = stored.map(({ object }) => object);
  if (plan.isList) return { state: 'present', value: objects };
  const [newest] = [...objects].sort(byAge);
  return newest === undefined ? { state: 'absent' } : { state: 'present', value: newest };
}

/** A child that has changed its name has two for a while: the one that stays, or the younger one, is meant. */
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

function planOf({ context }: Given, id: string): ChildPlan {
  const { children, onDelete } = context.plan;
  const plan = [...children, ...(onDelete?.children ?? [])].find((child) => child.id === id);
  if (plan === undefined) throw new Error(`The plan has no child "${id}"`);
  return plan;
}
