import type { StoredObject } from '../../kube/roles.ts';
import type { Gvk } from '../../util/gvk.ts';
import { childIdOf, identityOf, refOfStored } from '../identity.ts';
import { isChild } from '../ownership/is-child.ts';
import type { ChildResult, Pass } from '../pass/pass.ts';
import type { Stray } from '../pass/resource-state.ts';

/** What must be known before an object counts as unwanted. */
export interface Certainty {
  /** Is what this child does not claim not wanted? */
  readonly isSettled: (child: ChildResult) => boolean;
  /** Do objects of children that the definition does not have any more count? */
  readonly countsDropped: boolean;
}

/** The objects of ours, of this resource, that are not wanted; what nobody can tell of is not among them. */
export function unwantedObjects(pass: Pass, certainty: Certainty): readonly StoredObject[] {
  // By UID: an informer of another version may hold the same object.
  const unwanted = new Map<string | undefined, StoredObject>();
  for (const watch of pass.context.watches.allChildren()) {
    if (watch.informer.state.kind !== 'synced') continue;
    for (const stored of watch.labelledWith(pass.uid)) {
      if (isToGo(pass, stored, certainty)) unwanted.set(stored.object.metadata.uid, stored);
    }
  }
  return [...unwanted.values()];
}

function isToGo(pass: Pass, stored: StoredObject, certainty: Certainty): boolean {
  if (!isChild(pass, stored)) return false;
  const ref = refOfStored(stored.object);
  return isUnwanted(pass, { ref, childId: childIdOf(stored.object) }, certainty);
}

/** Is it known that no child of the definition wants this object of ours? */
export function isUnwanted(
  { found: { claims }, did: { children } }: Pass,
  { ref: { gvk, namespace, name }, childId }: Pick<Stray, 'ref' | 'childId'>,
  { isSettled, countsDropped }: Certainty,
): boolean {
  if (claims.has(identityOf(gvk, namespace, name))) return false;
  const result = children.get(childId);
  // A child that changed its kind has dropped the objects of the old one.
  const isDropped = result === undefined || !isSameKind(result.plan.gvk, gvk);
  return isDropped ? countsDropped : isSettled(result);
}

/** The same in whatever version. */
function isSameKind(a: Gvk, b: Gvk): boolean {
  return a.group === b.group && a.kind === b.kind;
}
