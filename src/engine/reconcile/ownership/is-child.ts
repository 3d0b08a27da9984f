import type { ChildPlan, OperatorPlan } from '#compile';
import type { KindAt, StoredObject } from '#kube/roles.ts';
import { isSameKind } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { childLabel, definitionLabel, hubLabel, ownerUidLabel } from '#util/stored-names.ts';
import { variantsOf } from '../child-variants.ts';
import { childIdOf, identityOfObject, kindOf, type ObjectAt } from '../identity.ts';
import { claimsOf, isControlledByAnother } from '../ownership-claims.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { type Disclosure, unknownOrigin } from '../secrecy.ts';
import { isElsewhere } from '../where.ts';
import { namespaceOf } from './namespace-of.ts';

/**
 * The only rule for what counts as a child of the resource (docs/decisions/0007). Every principal who can write an object can write its
 * labels, field managers and UIDs, so these are only claims. An object counts if it is in the inventory, or if Kubernetes would honour its
 * owner reference and its child may be in that place.
 */
export function isChild(pass: Pass, stored: StoredObject): boolean {
  const { object } = stored;
  if (isControlledByAnother(object, pass.uid) || isOfAnotherHub(pass, stored)) return false;
  if (isOfDefinition(object)) return false;
  const { name } = pass.context.plan;
  const { isLabelled, isApplied, isControlled } = claimsOf(stored, name, pass.uid);
  // A user may remove one of them: the next apply restores it.
  if (!isLabelled && !isApplied) return false;
  // Two resources of a definition may have applied it in turn: the label names the current owner.
  const isAnothers = !isLabelled && object.metadata.labels?.[ownerUidLabel] !== undefined;
  if (isKnown(pass, identityOfObject(stored)) && !isAnothers) return true;
  const plan = childPlanOf(pass, stored);
  if (isControlled)
    return mayBeOwned(pass, plan, stored) && isOwnerReferenceExpected(pass, plan, stored);
  if (!isLabelled || !isApplied) return false;
  if (pass.findings.inventory.isMissing)
    return plan === undefined || isAllowedThere(pass, plan, stored);
  // It has lost its owner reference.
  return (
    plan !== undefined &&
    !plan.isDetached &&
    isNameOfChild(pass, plan, stored) &&
    mayBeOwned(pass, plan, stored)
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
  const named = found.filter((stored) => isNameOfChild(pass, plan, stored));
  // Before the name is known it cannot be a criterion.
  return named.length > 0 || pass.findings.names.has(plan.id) ? named : found;
}

/** Is it in the inventory, or did this process send a create request without getting a response? */
function isKnown({ state, findings: { inventory } }: Pass, identity: string): boolean {
  return inventory.has(identity) || state.untracked.get(identity)?.isUnanswered === true;
}

/** Is it in the inventory, or is there no inventory? */
export function isInInventory({ findings: { inventory } }: Pass, stored: ObjectAt): boolean {
  return inventory.isMissing || inventory.has(identityOfObject(stored));
}

/** Does it have the name of its child, now or in the last report? */
function isNameOfChild(pass: Pass, plan: ChildPlan, stored: ObjectAt): boolean {
  const { object } = stored;
  const { namespace, findings } = pass;
  const { desiredObjects, inventory, names } = findings;
  const identity = identityOfObject(stored);
  return (
    desiredObjects.get(identity) === plan.id ||
    inventory.has(identity) ||
    inventory.reported.get(identity) === plan.id ||
    (names.get(plan.id) === object.metadata.name &&
      object.metadata.namespace === namespace &&
      isWhereExpected(plan, stored))
  );
}

/** Can an owner reference to the resource be valid here? A namespaced owner is valid in its own namespace only. */
function mayBeOwned(pass: Pass, plan: ChildPlan | undefined, stored: ObjectAt): boolean {
  const { namespace } = stored.object.metadata;
  if (pass.namespace !== undefined) return namespace === pass.namespace;
  if (plan !== undefined) return isAllowedThere(pass, plan, stored);
  return namespace === undefined || !pass.context.guardedNamespaces.has(namespace);
}

/** A detached child has an owner reference only from an earlier definition: then it must be known. */
function isOwnerReferenceExpected(
  pass: Pass,
  plan: ChildPlan | undefined,
  stored: ObjectAt,
): boolean {
  return (
    plan?.isDetached !== true ||
    // It was created before the child moved to a member cluster.
    !isWhereExpected(plan, stored) ||
    pass.findings.inventory.isMissing ||
    isNameOfChild(pass, plan, stored)
  );
}

/** May its child be in this place? */
function isAllowedThere(pass: Pass, plan: ChildPlan, stored: ObjectAt): boolean {
  return isWhereExpected(plan, stored) && !('reason' in namespaceOf(pass, plan, stored));
}

/** Are both in other clusters, or both in that of the resource? */
function isWhereExpected(plan: ChildPlan, { cluster }: ObjectAt): boolean {
  return isElsewhere(plan) === (cluster !== undefined);
}

/** Was the object placed by another hub, or is it in another cluster and not placed at all? */
export function isOfAnotherHub({ others }: PassInput, { object, cluster }: ObjectAt): boolean {
  const expected = cluster === undefined ? undefined : others?.hubUid;
  return object.metadata.labels?.[hubLabel] !== expected;
}

/** The child of an object; undefined: the definition no longer has it. */
export function childPlanOf({ context }: PassInput, stored: ObjectAt): ChildPlan | undefined {
  const id = stored.object.metadata.labels?.[childLabel];
  return planOfChild(context.plan, id, kindOf(stored));
}

/** The child with this id and kind, in any version. */
export function planOfChild(
  { children, onDelete }: OperatorPlan,
  id: string | undefined,
  gvk: KindAt,
): ChildPlan | undefined {
  const found = [...children, ...(onDelete?.children ?? [])].filter((child) => child.id === id);
  return found.flatMap(variantsOf).find((variant) => isSameKind(variant.gvk, gvk));
}

/** What messages may disclose of an object. */
export function disclosureOf(pass: Pass, stored: ObjectAt): Disclosure {
  return childPlanOf(pass, stored) ?? unknownOrigin;
}
