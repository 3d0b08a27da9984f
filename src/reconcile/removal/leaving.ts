import type { StoredObject } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import {
  childLabel,
  deleteWhenAnnotation,
  deletionPolicyAnnotation,
  indexAnnotation,
} from '../names.ts';
import { isTerminating } from '../owner.ts';
import { childPlanOf } from '../ownership/child-plan.ts';
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
