import type { StoredObject } from '#kube/roles.ts';
import type { KubeObject, OwnerReference } from '#util/kube-object.ts';
import {
  definitionLabel,
  fieldManagerOf,
  finalizerOf,
  managedByLabel,
  managedByValue,
  ownerUidLabel,
  pausedAnnotation,
} from '#util/stored-names.ts';

/** Whether the labels name this definition, with any resource. Not a proof of ownership: operators copy labels. */
export function isLabelledBy(object: KubeObject, definition: string): boolean {
  const labels = object.metadata.labels;
  return labels?.[managedByLabel] === managedByValue && labels[definitionLabel] === definition;
}

/** What the metadata of an object claims about this owner: every principal who can write the object can write it. */
export function claimsOf(
  { object, appliedBy }: StoredObject,
  definition: string,
  ownerUid: string,
) {
  return {
    /** Does it carry all labels of a child of this resource? */
    isLabelled:
      isLabelledBy(object, definition) && object.metadata.labels?.[ownerUidLabel] === ownerUid,
    /** Does it have an apply entry of the definition's field manager? */
    isApplied: appliedBy.includes(fieldManagerOf(definition)),
    /** Does its controller reference name the resource? */
    isControlled: isControlledBy(object, ownerUid),
  };
}

/** Does the controller reference of the object name this UID? */
export function isControlledBy(object: KubeObject, uid: string): boolean {
  return controllerOf(object)?.uid === uid;
}

/** Does the object have another controller? */
export function isControlledByAnother(object: KubeObject, uid: string): boolean {
  const controller = controllerOf(object);
  return controller !== undefined && controller.uid !== uid;
}

/** The owner of an object, for people. */
export function ownerText(object: KubeObject): string {
  const controller = controllerOf(object);
  if (controller !== undefined) return `${controller.kind} "${controller.name}"`;
  const { [managedByLabel]: manager, [definitionLabel]: definition } = object.metadata.labels ?? {};
  if (manager === managedByValue && definition !== undefined) {
    return `another resource of definition "${definition}"`;
  }
  return manager === undefined ? 'no manager' : `"${manager}"`;
}

export function isTerminating(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Does our finalizer block the deletion of the resource? */
export function hasFinalizer({ metadata }: KubeObject, definition: string): boolean {
  return metadata.finalizers?.includes(finalizerOf(definition)) === true;
}

/** Is the resource paused by its annotation, also during its deletion? */
export function isPaused({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[pausedAnnotation] === 'true';
}
