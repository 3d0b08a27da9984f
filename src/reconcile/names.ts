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
/** On the children of a definition with selectors (`for`): under which of them they were made. */
export const selectedByAnnotation = 'homeostat.dev/selected-by';

/** The finalizer of a definition, on resources whose children nobody else would remove. */
export function finalizerOf(definition: string): string {
  return `homeostat.dev/${definition}`;
}

/** The field manager of all applies of a definition to main resources. */
export function fieldManagerOf(definition: string): string {
  return `homeostat/${definition}`;
}

/** The field manager of a definition's status writes. */
export function statusManagerOf(definition: string): string {
  return `homeostat/${definition}.status`;
}
