import type { StoredObject } from '../kube/roles.ts';
import type { KubeObject, OwnerReference } from '../util/kube-object.ts';
import {
  definitionLabel,
  fieldManagerOf,
  finalizerOf,
  managedByLabel,
  managedByValue,
  ownerUidLabel,
  pausedAnnotation,
} from './names.ts';

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

/** What an object says of itself: anybody who may write it can say so. */
export interface Claims {
  /** Does it carry all labels of a child of this resource? */
  readonly isLabelled: boolean;
  /** Has it an apply entry of the definition's field manager? */
  readonly isApplied: boolean;
  /** Does its controller reference name the resource? */
  readonly isControlled: boolean;
}

/** What an object says of whose child it is. */
export function claimsOf(
  { object, appliedBy }: StoredObject,
  { definition, ownerUid }: Ownership,
): Claims {
  return {
    isLabelled:
      isLabelledBy(object, definition) && object.metadata.labels?.[ownerUidLabel] === ownerUid,
    isApplied: appliedBy.includes(fieldManagerOf(definition)),
    isControlled: isControlledBy(object, ownerUid),
  };
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

/** Does the resource wait for us before it goes? */
export function hasFinalizer({ metadata }: KubeObject, definition: string): boolean {
  return metadata.finalizers?.includes(finalizerOf(definition)) === true;
}

/** Has somebody said that the resource is to be left as it is, also when it is being deleted? */
export function isPaused({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[pausedAnnotation] === 'true';
}
