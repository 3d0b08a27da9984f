import { sha256Hex } from '../util/sha256.ts';

/** Labels, annotations and field managers: what a cluster remembers of us. None of them may ever change. */

/** Says that an object is Homeostat's. The value is {@link managedByValue}. */
export const managedByLabel = 'app.kubernetes.io/managed-by';
export const managedByValue = 'homeostat';
/** Name of the definition whose child it is. */
export const definitionLabel = 'homeostat.dev/definition';
/** Id of the child in its definition. */
export const childLabel = 'homeostat.dev/child';
/** UID of the resource that wants it. */
export const ownerUidLabel = 'homeostat.dev/owner-uid';
/** The path hash of the intent that was applied last. */
export const appliedAnnotation = 'homeostat.dev/applied';
/** On a child that is made anew or in turn: a hash of the intent that it was made of last, values included. Not on Secrets. */
export const intentAnnotation = 'homeostat.dev/intent';
/** On the children of a definition with selectors (`for`): under which of them they were made. */
export const selectedByAnnotation = 'homeostat.dev/selected-by';

/** On a child, `Orphan`: it stays when it is dropped or its resource is deleted, and loses all that says it was ours. */
export const deletionPolicyAnnotation = 'homeostat.dev/deletion-policy';
/** On a child with `deleteWhen`: only its definition can say when it may go. */
export const deleteWhenAnnotation = 'homeostat.dev/delete-when';
/** On an element of an `ordered` child: its place, for when the definition does not tell any more. */
export const indexAnnotation = 'homeostat.dev/index';
/** All labels of ours that a child carries, but {@link managedByLabel}. */
export const labelsOfChild: readonly string[] = [definitionLabel, childLabel, ownerUidLabel];
/** All annotations of ours that a child may carry. */
export const annotationsOfChild: readonly string[] = [
  appliedAnnotation,
  intentAnnotation,
  selectedByAnnotation,
  deletionPolicyAnnotation,
  deleteWhenAnnotation,
  indexAnnotation,
];
/** On a resource, `true`: its deletion does without `onDelete`. */
export const skipOnDeleteAnnotation = 'homeostat.dev/skip-on-delete';
/** On a CustomResourceDefinition of ours: the kinds of children its definition has, or has had. */
export const childKindsAnnotation = 'homeostat.dev/child-kinds';

/** On a CustomResourceDefinition that was there before us and was taken over (`crdPolicy.adopt`), `true`: it is never deleted. */
export const adoptedAnnotation = 'homeostat.dev/adopted';

/** On a resource with our finalizer: the kinds to look in for what is to go with it. */
export function inventoryAnnotationOf(definition: string): string {
  return `inventory.homeostat.dev/${definition}`;
}

/**
 * On a resource whose definition has `onDelete`: its deletion waits for the definition. `true`, `done` when `onDelete.children` have been
 * ready, or since when the timeout counts, where nobody was there before.
 */
export function onDeleteAnnotationOf(definition: string): string {
  return `on-delete.homeostat.dev/${definition}`;
}

/** On a resource that is being deleted, its UID: the deletion leaves what it owns where it is (`--cascade=orphan`). */
export function orphaningAnnotationOf(definition: string): string {
  return `orphan.homeostat.dev/${definition}`;
}

/** The field manager of finalizer and inventory: a resource may be a child of its own definition. */
export function finalizerManagerOf(definition: string): string {
  return `homeostat/${definition}.finalizer`;
}

/** The finalizer of a definition's resources. */
export function finalizerOf(definition: string): string {
  return `homeostat.dev/${definition}`;
}

/** The field manager of all applies of a definition to main resources. */
export function fieldManagerOf(definition: string): string {
  return `homeostat/${definition}`;
}

/** On a resource, `"true"`: it is left as it is. */
export const pausedAnnotation = 'homeostat.dev/paused';
/** Of a definition, a revision: the deletions that it brings are wanted. */
export const approveDeletionsAnnotation = 'homeostat.dev/approve-deletions';

/** The field manager of one of its patches; of one resource's alone, where several may patch one object. */
export function patchManagerOf(definition: string, patchId: string, resourceKey?: string): string {
  const manager = `homeostat/${definition}/${patchId}`;
  return resourceKey === undefined ? manager : `${manager}/${sha256Hex(resourceKey).slice(0, 10)}`;
}

/** The field manager of a definition's status writes. */
export function statusManagerOf(definition: string): string {
  return `homeostat/${definition}.status`;
}
