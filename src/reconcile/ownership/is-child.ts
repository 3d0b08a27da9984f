import type { ChildPlan, OperatorPlan } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { type Gvk, isSameKind } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { memberOf } from '../../util/member-cluster.ts';
import { childLabel, definitionLabel, hubLabel, ownerUidLabel } from '../../util/stored-names.ts';
import { childIdOf, identityOfObject, kindOf } from '../identity.ts';
import { claimsOf, isControlledByAnother } from '../ownership-claims.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { type Disclosure, unknownOrigin } from '../secrecy.ts';
import { placementOf } from './placement.ts';

/**
 * The only rule for what counts as a child of the resource (docs/decisions/0007). Every principal who can write an object can write its
 * labels, field managers and UIDs, so these are only claims. An object counts if it is in the inventory, or if Kubernetes would honour its
 * owner reference and its child may be in that place.
 */
export function isChild(pass: Pass, stored: StoredObject): boolean {
  const { object } = stored;
  if (isControlledByAnother(object, pass.uid) || isOfAnotherHub(pass, object)) return false;
  if (isOfDefinition(object)) return false;
  const { name } = pass.context.plan;
  const { isLabelled, isApplied, isControlled } = claimsOf(stored, name, pass.uid);
  // A user may remove one of them: the next apply restores it.
  if (!isLabelled && !isApplied) return false;
  // Two resources of a definition may have applied it in turn: the label names the current owner.
  const isAnothers = !isLabelled && object.metadata.labels?.[ownerUidLabel] !== undefined;
  if (isKnown(pass, identityOfObject(object)) && !isAnothers) return true;
  const plan = childPlanOf(pass, object);
  if (isControlled)
    return mayBeOwned(pass, plan, object) && isOwnerReferenceExpected(pass, plan, object);
  if (!isLabelled || !isApplied) return false;
  if (pass.findings.inventory.isMissing)
    return plan === undefined || isAllowedPlace(pass, plan, object);
  // It has lost its owner reference.
  return (
    plan !== undefined &&
    !plan.isDetached &&
    isNameOfChild(pass, plan, object) &&
    mayBeOwned(pass, plan, object)
  );
}

/**
 * Is it the CustomResourceDefinition of a definition? Its manager is that of the children, so that one entry in a forged inventory would
 * make it one.
 */
function isOfDefinition({ kind, metadata: { labels } }: KubeObject): boolean {
  const isOfAny = labels?.[definitionLabel] !== undefined && labels[ownerUidLabel] === undefined;
  return isOfAny && kind === 'CustomResourceDefinition';
}

/** The objects of one child. Without `forEach`, only objects with the name of the template or of the last report. */
export function childrenOf(
  pass: Pass,
  plan: ChildPlan,
  objects: readonly StoredObject[],
): readonly StoredObject[] {
  const found = objects.filter(
    (stored) => childIdOf(stored.object) === plan.id && isChild(pass, stored),
  );
  if (plan.isList) return found;
  const named = found.filter(({ object }) => isNameOfChild(pass, plan, object));
  // Before the name is known it cannot be a criterion.
  return named.length > 0 || pass.findings.names.has(plan.id) ? named : found;
}

/** Is it in the inventory, or did this process send a create request without getting a response? */
function isKnown({ state, findings: { inventory } }: Pass, identity: string): boolean {
  return inventory.has(identity) || state.untracked.get(identity)?.isUnanswered === true;
}

/** Is it in the inventory, or is there no inventory? */
export function isInInventory({ findings: { inventory } }: Pass, object: KubeObject): boolean {
  return inventory.isMissing || inventory.has(identityOfObject(object));
}

/** Does it have the name of its child, now or in the last report? */
function isNameOfChild(pass: Pass, plan: ChildPlan, object: KubeObject): boolean {
  const { namespace, findings } = pass;
  const { desiredObjects, inventory, names } = findings;
  const identity = identityOfObject(object);
  return (
    desiredObjects.get(identity) === plan.id ||
    inventory.has(identity) ||
    inventory.reported.get(identity) === plan.id ||
    (names.get(plan.id) === object.metadata.name &&
      object.metadata.namespace === namespace &&
      isPlacedLike(plan, object))
  );
}

/** Can an owner reference to the resource be valid here? A namespaced owner is valid in its own namespace only. */
function mayBeOwned(pass: Pass, plan: ChildPlan | undefined, object: KubeObject): boolean {
  const { namespace } = object.metadata;
  if (pass.namespace !== undefined) return namespace === pass.namespace;
  if (plan !== undefined) return isAllowedPlace(pass, plan, object);
  return namespace === undefined || !pass.context.guardedNamespaces.has(namespace);
}

/** A detached child has an owner reference only from an earlier definition: then it must be known. */
function isOwnerReferenceExpected(
  pass: Pass,
  plan: ChildPlan | undefined,
  object: KubeObject,
): boolean {
  return (
    plan?.isDetached !== true ||
    // It was created before the child moved to a member cluster.
    !isPlacedLike(plan, object) ||
    pass.findings.inventory.isMissing ||
    isNameOfChild(pass, plan, object)
  );
}

/** May its child be in this place? */
function isAllowedPlace(pass: Pass, plan: ChildPlan, object: KubeObject): boolean {
  return isPlacedLike(plan, object) && !('reason' in placementOf(pass, plan, object));
}

/** Are both in a member cluster, or both in the cluster of the resource? */
function isPlacedLike({ placement }: ChildPlan, object: KubeObject): boolean {
  return (placement === undefined) === (memberOf(object) === undefined);
}

/** Was the object placed by another hub, or is it in a member and not placed at all? */
export function isOfAnotherHub({ members }: PassInput, object: KubeObject): boolean {
  const expected = memberOf(object) === undefined ? undefined : members?.hubUid;
  return object.metadata.labels?.[hubLabel] !== expected;
}

/** The child of an object; undefined: the definition no longer has it. */
export function childPlanOf({ context }: PassInput, object: KubeObject): ChildPlan | undefined {
  const id = object.metadata.labels?.[childLabel];
  return planOfChild(context.plan, id, kindOf(object));
}

/** The child with this id and kind, in any version. */
export function planOfChild(
  { children, onDelete }: OperatorPlan,
  id: string | undefined,
  gvk: Gvk,
): ChildPlan | undefined {
  return [...children, ...(onDelete?.children ?? [])].find(
    (child) => child.id === id && isSameKind(child.gvk, gvk),
  );
}

/** What messages may disclose of an object. */
export function disclosureOf(pass: Pass, object: KubeObject): Disclosure {
  return childPlanOf(pass, object) ?? unknownOrigin;
}
