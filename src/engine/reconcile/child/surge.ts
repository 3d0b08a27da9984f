import type { ChildPlan } from '#compile';
import type { RollingUpdate } from '#definition';
import type { StoredObject } from '#kube/roles.ts';
import { identityOfObject, inFixedOrder } from '../identity.ts';
import { watchesOf } from '../observe/child-watches.ts';
import { childrenOf } from '../ownership/is-child.ts';
import { isTerminating } from '../ownership-claims.ts';
import type { ChildResult, ElementResult, Pass } from '../pass/pass.ts';
import { deletePermission } from '../removal/removal-rules.ts';
import { shareOf } from './apply-rolling.ts';
import { isUnreachable } from './element-result.ts';
import { isReadyNow } from './readiness.ts';

/** A rolling update to elements with other names (docs/definition/children.md#other-names-maxsurge). */
export type Surge = RollingUpdate & Required<Pick<RollingUpdate, 'maxSurge'>>;

/** Undefined: new elements are created, and earlier objects deleted, at once. */
export function surgeOf({ isList, updateStrategy }: ChildPlan): Surge | undefined {
  const { rollingUpdate } = updateStrategy;
  if (!isList || rollingUpdate?.maxSurge === undefined) return undefined;
  return { ...rollingUpdate, maxSurge: rollingUpdate.maxSurge };
}

/** The objects of the child that no element desires, by name, with those that are being deleted. */
export function earlierObjects(pass: Pass, plan: ChildPlan): readonly StoredObject[] {
  const labelled = watchesOf(pass, plan).flatMap(({ labelledWith }) => labelledWith(pass.uid));
  const { desiredObjects } = pass.findings;
  return inNameOrder(
    childrenOf(pass, plan, labelled).filter(
      (stored) => !desiredObjects.has(identityOfObject(stored)),
    ),
  );
}

/** By name, `a-2` before `a-10`: the order of the elements, if their names end with an index. */
function inNameOrder(objects: readonly StoredObject[]): readonly StoredObject[] {
  if (objects.length < 2) return objects;
  const { compare } = new Intl.Collator('en', { numeric: true });
  return inFixedOrder(objects).toSorted(({ object: a }, { object: b }) =>
    compare(a.metadata.name, b.metadata.name),
  );
}

/** The earlier objects that an update keeps for last: it deletes from the other end, in the order of the elements that it creates. */
export function inDeletionOrder(
  { order }: RollingUpdate,
  earlier: readonly StoredObject[],
): readonly StoredObject[] {
  return order === 'Descending' ? earlier.toReversed() : earlier;
}

/**
 * The earlier objects that are kept for now. One that is ready is deleted when as many others are ready as must be: all elements but
 * `maxUnavailable`. One that is not ready is deleted before, while the others suffice as soon as they are ready again.
 * @param earlier Those that are no longer desired and not being deleted.
 */
export async function keptBySurge(
  pass: Pass,
  surge: Surge,
  { plan, elements, earlier }: KeptOptions,
): Promise<readonly StoredObject[]> {
  const reachable = elements.filter((each) => !isUnreachable(each));
  const required = reachable.length - shareOf(surge.maxUnavailable, reachable.length);
  const ready = await readyOf(pass, reachable);
  const kept = new Set(earlier);
  const readyEarlier = new Set<StoredObject>();
  for (const stored of earlier) {
    if (await isReadyNow(pass, resultOf(plan, stored))) readyEarlier.add(stored);
  }
  const inOrder = await deletableFirst(pass, inDeletionOrder(surge, inNameOrder(earlier)));
  for (const stored of inOrder) {
    if (!readyEarlier.has(stored) && ready + kept.size > required) kept.delete(stored);
  }
  for (const stored of inOrder) {
    if (ready + readyEarlier.size > required && readyEarlier.delete(stored)) kept.delete(stored);
  }
  return [...kept];
}

/** Those that `deleteWhen` keeps come last, so that they do not hold up the others. */
async function deletableFirst(
  pass: Pass,
  earlier: readonly StoredObject[],
): Promise<readonly StoredObject[]> {
  const deletable = new Set<StoredObject>();
  for (const stored of earlier) {
    const { kind } = await deletePermission(pass, stored);
    if (kind === 'granted') deletable.add(stored);
  }
  return [...deletable, ...earlier.filter((stored) => !deletable.has(stored))];
}

interface KeptOptions {
  readonly plan: ChildPlan;
  /** The results of the elements. */
  readonly elements: readonly ElementResult[];
  readonly earlier: readonly StoredObject[];
}

async function readyOf(pass: Pass, elements: readonly ElementResult[]): Promise<number> {
  let ready = 0;
  for (const each of elements) if (await isReadyNow(pass, each)) ready += 1;
  return ready;
}

/** An earlier object as the result of an element. */
export function resultOf(
  plan: ChildPlan,
  live: StoredObject,
  element?: ElementResult['element'],
): ElementResult {
  const { name, namespace } = live.object.metadata;
  return { plan, element, name, namespace, cluster: live.cluster, live };
}

/**
 * Does the element wait although it is known which objects are desired? Then only the readiness of the others decides about earlier objects.
 */
export function isPacedWait(
  { plan, resolution }: ChildResult,
  { problem }: ElementResult,
): boolean {
  return resolution === 'desired' && problem?.reason === 'Waiting' && surgeOf(plan) !== undefined;
}

/** The earlier objects that still run. */
export function remaining(earlier: readonly StoredObject[]): readonly StoredObject[] {
  return earlier.filter(({ object }) => !isTerminating(object));
}
