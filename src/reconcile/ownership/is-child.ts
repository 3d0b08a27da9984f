import type { ChildPlan, OperatorPlan } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { type Gvk, gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { childIdOf, identityOfObject } from '../identity.ts';
import { childLabel, ownerUidLabel } from '../names.ts';
import { claimsOf, isOthers } from '../owner.ts';
import type { Given, Pass } from '../pass/pass.ts';
import { type Confidence, unaccounted } from '../secrecy.ts';
import { placementOf } from './placement.ts';

/**
 * The one rule of what counts as a child of the resource (docs/decisions/0028). Labels, field manager and UID can be written by anybody
 * who may write the object, so that they only say what a child looks like. It counts where it is on record, or where its owner
 * reference is one that Kubernetes would obey, in a place where its child may be.
 */
export function isChild(pass: Pass, stored: StoredObject): boolean {
  const { object } = stored;
  if (isOthers(object, pass.uid)) return false;
  const owner = { definition: pass.context.plan.name, ownerUid: pass.uid };
  const { isLabelled, isApplied, isControlled } = claimsOf(stored, owner);
  // One of them may be taken off by people: it is mended.
  if (!isLabelled && !isApplied) return false;
  // Two resources of a definition may have made it one after the other: whose it is now its label says.
  const isAnothers = !isLabelled && object.metadata.labels?.[ownerUidLabel] !== undefined;
  if (isKnown(pass, identityOfObject(object)) && !isAnothers) return true;
  const plan = childPlanOf(pass, object);
  if (isControlled) return mayBeOwned(pass, plan, object) && isOwnedAsMade(pass, plan, object);
  if (!isLabelled || !isApplied) return false;
  if (pass.found.inventory.isOpen) return plan === undefined || isPlaced(pass, plan, object);
  // It has lost the owner reference that it had.
  return (
    plan !== undefined &&
    !plan.isDetached &&
    isNamed(pass, plan, object) &&
    mayBeOwned(pass, plan, object)
  );
}

/** The objects of one child among these. Of a child that is no list, those that its template names, or that were reported as it. */
export function childrenOf(
  pass: Pass,
  plan: ChildPlan,
  objects: readonly StoredObject[],
): readonly StoredObject[] {
  const found = objects.filter(
    (stored) => childIdOf(stored.object) === plan.id && isChild(pass, stored),
  );
  if (plan.isList) return found;
  const named = found.filter(({ object }) => isNamed(pass, plan, object));
  // Before its name is known there is nothing to go by.
  return named.length > 0 || pass.found.names.has(plan.id) ? named : found;
}

/** Is it on record, or did this process ask for it and has not heard what came of that? */
function isKnown({ state, found: { inventory } }: Pass, identity: string): boolean {
  return inventory.has(identity) || state.strays.get(identity)?.isUnanswered === true;
}

/** Is it on record by its name, or is nothing so far? */
export function isOnRecord({ found: { inventory } }: Pass, object: KubeObject): boolean {
  return inventory.isOpen || inventory.has(identityOfObject(object));
}

/** Has it the name that its child has now, or had when it was reported? */
function isNamed(pass: Pass, plan: ChildPlan, object: KubeObject): boolean {
  const {
    namespace,
    found: { claims, inventory, names },
  } = pass;
  const identity = identityOfObject(object);
  return (
    claims.get(identity) === plan.id ||
    inventory.has(identity) ||
    inventory.reported.get(identity) === plan.id ||
    (names.get(plan.id) === object.metadata.name && object.metadata.namespace === namespace)
  );
}

/**
 * Is it where an owner reference to the resource means something? A namespaced owner is understood in its own namespace only, whatever
 * is written elsewhere.
 */
function mayBeOwned(pass: Pass, plan: ChildPlan | undefined, object: KubeObject): boolean {
  const { namespace } = object.metadata;
  if (pass.namespace !== undefined) return namespace === pass.namespace;
  if (plan !== undefined) return isPlaced(pass, plan, object);
  return namespace === undefined || !pass.context.guardedNamespaces.has(namespace);
}

/** A child that has no owner reference had one before its definition was changed: then it is one that is known. */
function isOwnedAsMade(pass: Pass, plan: ChildPlan | undefined, object: KubeObject): boolean {
  return plan?.isDetached !== true || pass.found.inventory.isOpen || isNamed(pass, plan, object);
}

/** May its child be there? */
function isPlaced(pass: Pass, plan: ChildPlan, object: KubeObject): boolean {
  return !('reason' in placementOf(pass, plan, object));
}

/** The child that an object is of; undefined: the definition has none such any more. */
export function childPlanOf({ context }: Given, object: KubeObject): ChildPlan | undefined {
  const id = object.metadata.labels?.[childLabel];
  return planOfChild(context.plan, id, gvkOf(object.apiVersion, object.kind));
}

/** The child of this id and kind, in whatever version. */
export function planOfChild(
  { children, onDelete }: OperatorPlan,
  id: string | undefined,
  { group, kind }: Gvk,
): ChildPlan | undefined {
  return [...children, ...(onDelete?.children ?? [])].find(
    (child) => child.id === id && child.gvk.group === group && child.gvk.kind === kind,
  );
}

/** What messages may say of an object. */
export function aboutObject(pass: Pass, object: KubeObject): Confidence {
  return childPlanOf(pass, object) ?? unaccounted;
}
