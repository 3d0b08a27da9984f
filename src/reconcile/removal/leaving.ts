import type { StoredObject } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { DoomedObject } from '../deletion-guard.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import { childIdOf, refOfStored } from '../identity.ts';
import {
  childLabel,
  deleteWhenAnnotation,
  deletionPolicyAnnotation,
  indexAnnotation,
} from '../names.ts';
import { isTerminating } from '../owner.ts';
import { childPlanOf } from '../ownership/is-child.ts';
import type { Pass } from '../pass/pass.ts';

/** Does it stay when nobody wants it any more? What the object says counts too: its definition may be another one by now. */
export function isOrphaned(pass: Pass, object: KubeObject): boolean {
  return (
    object.metadata.annotations?.[deletionPolicyAnnotation] === 'Orphan' ||
    childPlanOf(pass, object)?.deletionPolicy === 'Orphan'
  );
}

/** Does the object say that something decides when it may go? */
export function isGuarded({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[deleteWhenAnnotation] !== undefined;
}

/** What goes one after the other, each when the one before is gone. */
export type Chain = readonly StoredObject[];

/** Elements of an ordered child make a chain, from the last; everything else is a chain of its own. */
export function chainsOf(pass: Pass, leaving: readonly StoredObject[]): readonly Chain[] {
  const chains = new Map<string, StoredObject[]>();
  for (const stored of leaving) {
    const { metadata } = stored.object;
    const id = isOrdered(pass, stored.object)
      ? `${stored.object.kind} of ${metadata.labels?.[childLabel]}`
      : (metadata.uid ?? '');
    const chain = chains.get(id) ?? [];
    chains.set(id, chain);
    chain.push(stored);
  }
  return [...chains.values()].map((chain) => chain.sort(lastFirst));
}

/** Does it go in its turn? */
export function isOrdered(pass: Pass, object: KubeObject): boolean {
  const plan = childPlanOf(pass, object);
  if (plan !== undefined) return plan.ordered && plan.isList;
  return object.metadata.annotations?.[indexAnnotation] !== undefined;
}

/** What is on its way out is waited for before anything else. */
function lastFirst({ object: a }: StoredObject, { object: b }: StoredObject): number {
  const leaving = Number(isTerminating(b)) - Number(isTerminating(a));
  if (leaving !== 0) return leaving;
  return placeOf(b) - placeOf(a) || (a.metadata.name < b.metadata.name ? 1 : -1);
}

/** Its place in the list; by the number in its name where it was made before its child was `ordered`. */
function placeOf({ metadata }: KubeObject): number {
  const noted = metadata.annotations?.[indexAnnotation] ?? /\d+$/.exec(metadata.name)?.[0];
  return Number(noted ?? 0);
}

/** May an object go, as far as its child's `deleteWhen` is concerned? */
export type Leave =
  | { readonly kind: 'granted' }
  /** It stays; `message` says why, for people. */
  | { readonly kind: 'held'; readonly message: string }
  | { readonly kind: 'failed'; readonly problem: Problem };

const granted: Leave = { kind: 'granted' };

/**
 * Asks `deleteWhen` whether an object that is to go (dropped, replaced, or its resource deleted) may go now. It is asked again when
 * something it reads changes.
 */
export async function mayGo(pass: Pass, { object }: StoredObject): Promise<Leave> {
  const plan = childPlanOf(pass, object);
  if (plan === undefined || !plan.hasDeleteWhen) {
    // An accepted definition that has no such guard any more says nothing against it; one that is broken cannot say.
    return pass.context.isFinishing && isGuarded(object)
      ? { kind: 'failed', problem: broken }
      : granted;
  }
  const may = await pass.wanting.mayGo(plan.id, object);
  switch (may.kind) {
    case 'value':
      return may.value
        ? granted
        : { kind: 'held', message: 'stays while "deleteWhen" is not true' };
    case 'missing':
      return { kind: 'held', message: 'stays while "deleteWhen" is not true' };
    case 'waiting':
      return { kind: 'held', message: `stays: "deleteWhen" waits for ${may.on.join(', ')}` };
    case 'failed':
      return { kind: 'failed', problem: problemOfRender(may.failure) };
  }
}

const broken: Problem = {
  reason: 'DefinitionBroken',
  message: 'Only its definition, which is broken, can say when it may go ("deleteWhen")',
  code: 'definition-broken',
  kind: 'waiting',
};

/** Those of the objects that are not wanted which would be lost: not what stays without us, nor what is on its way out already. */
export function doomedOf(pass: Pass, unwanted: readonly StoredObject[]): readonly DoomedObject[] {
  return unwanted
    .filter(({ object }) => !isTerminating(object) && !isOrphaned(pass, object))
    .map(({ object }) => ({
      ref: refOfStored(object),
      uid: object.metadata.uid ?? '',
      childId: childIdOf(object),
    }));
}
