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
 * Is it ours, for this resource? Our labels **and** our controller reference or, where there is no controller at all,
 * an apply entry of our field manager (definition.md section 4). Nothing else is ever changed or deleted.
 */
export function isOurs({ object, appliedBy }: StoredObject, owner: Ownership): boolean {
  if (!isLabelledBy(object, owner.definition)) return false;
  if (object.metadata.labels?.[ownerUidLabel] !== owner.ownerUid) return false;
  const controller = controllerOf(object);
  if (controller === undefined) return appliedBy.includes(fieldManagerOf(owner.definition));
  return controller.uid === owner.ownerUid;
}

/** Who owns an object, for people. */
export function ownerText(object: KubeObject): string {
  const controller = controllerOf(object);
  if (controller !== undefined) return `${controller.kind} "${controller.name}"`;
  const manager = object.metadata.labels?.[managedByLabel];
  return manager === undefined ? 'nobody' : `"${manager}"`;
}

export function isTerminating(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true);
}
