import { type AccessRight, KubeError } from '#kube/roles.ts';
import { rightText } from '#reconcile';
import { messageOf } from '#util/homeostat-error.ts';

/** The error as a message for users. */
export function errorMessage(error: unknown): string {
  if (isMissingRight(error)) return rightText(error.right, literalNameOf(error.right));
  if (error instanceof KubeError && error.code === 'unauthorized')
    return 'The API server rejects the credentials of the runtime';
  return messageOf(error);
}

/** The definition contains the name of its CRD, as `homeostat rights` prints it. */
function literalNameOf({ resource, name }: AccessRight): string | undefined {
  return resource === 'customresourcedefinitions' ? name : undefined;
}

/** Whether the runtime lacks a right that the server names. */
export function isMissingRight(
  error: unknown,
): error is KubeError & { readonly right: AccessRight } {
  return error instanceof KubeError && error.right !== undefined;
}

/** Limit for messages in statuses and annotations, in characters. */
const maxCharacters = 16_384;

/** Truncates a message for a status or an annotation. */
export function truncated(text: string): string {
  if (text.length <= maxCharacters) return text;
  // Do not split a surrogate pair.
  const head = text.slice(0, maxCharacters - 4).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}\n...`;
}
