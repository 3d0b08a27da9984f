import type { StoredObject } from '../../kube/roles.ts';
import type { KubeObject, OwnerReference } from '../../util/kube-object.ts';
import {
  definitionLabel,
  fieldManagerOf,
  managedByLabel,
  managedByValue,
  ownerUidLabel,
} from '../names.ts';

/** Whose child an object would be. */
export interface Ownership {
  readonly definition: string;
  readonly ownerUid: string;
}

/** Does this definition say that it made the object, for whichever resource? A claim only: operators copy labels. */
export function isLabelledBy(object: KubeObject, definition: string): boolean {
  const labels = object.metadata.labels;
  return labels?.[managedByLabel] === managedByValue && labels[definitionLabel] === definition;
}

/**
 * Is it ours, for this resource? Two of three must say so: our labels, our controller reference, an apply entry of our field
 * manager (definition.md section 4), and no other controller may have it. Operators copy labels to what they make, and people
 * take labels or owners off what is ours: the first is never touched, the second is mended.
 */
export function isOurs({ object, appliedBy }: StoredObject, owner: Ownership): boolean {
  const controller = controllerOf(object);
  const isControlled = controller?.uid === owner.ownerUid;
  if (controller !== undefined && !isControlled) return false;
  const isLabelled =
    isLabelledBy(object, owner.definition) &&
    object.metadata.labels?.[ownerUidLabel] === owner.ownerUid;
  if (isLabelled && isControlled) return true;
  const isApplied = appliedBy.includes(fieldManagerOf(owner.definition));
  return isApplied && (isLabelled || isControlled);
}

/** Is this the object's controller by its owner reference? */
export function isControlledBy(object: KubeObject, uid: string): boolean {
  return controllerOf(object)?.uid === uid;
}

/** Has somebody else taken it for their own? */
export function isOthers(object: KubeObject, uid: string): boolean {
  const controller = controllerOf(object);
  return controller !== undefined && controller.uid !== uid;
}

/** Who owns an object, for people. */
export function ownerText(object: KubeObject): string {
  const controller = controllerOf(object);
  if (controller !== undefined) return `${controller.kind} "${controller.name}"`;
  const { [managedByLabel]: manager, [definitionLabel]: definition } = object.metadata.labels ?? {};
  if (manager === managedByValue && definition !== undefined) {
    return `another resource of definition "${definition}"`;
  }
  return manager === undefined ? 'nobody' : `"${manager}"`;
}

export function isTerminating(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true);
}
