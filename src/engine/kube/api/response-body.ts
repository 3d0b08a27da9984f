import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { KubeError } from '../kube-error.ts';
import type { StoredObject } from '../roles.ts';

/**
 * `/status` of custom resources ignores the precondition on `metadata.uid` (seen on 1.36: 200). The response then
 * shows that the status of a recreated object was written; the next reconcile of that object corrects it.
 */
export function assertSameObject(
  { metadata: { uid } }: KubeObject,
  { object }: StoredObject,
): void {
  if (uid === undefined || uid === object.metadata.uid) return;
  const message = `Expected the object with uid "${uid}", found one with another`;
  throw new KubeError('uid-mismatch', message, { status: 409 });
}

/** @throws KubeError if it is not an object */
export function objectOf(body: unknown): KubeObject {
  const isObject = isJsonObject(body) && isJsonObject(body.metadata);
  if (isObject && typeof body.kind === 'string') return body as unknown as KubeObject;
  throw new KubeError('unexpected', 'The response is not a Kubernetes object', {
    status: 200,
  });
}

/** A DELETE returns the object while finalizers or a Pod's grace period delay its deletion. */
export function stateAfterDelete(body: unknown): 'deleted' | 'deleting' {
  if (!isJsonObject(body) || body.kind === 'Status' || !isJsonObject(body.metadata))
    return 'deleted';
  return body.metadata.deletionTimestamp === undefined ? 'deleted' : 'deleting';
}
