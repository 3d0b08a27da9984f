import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { KubeError } from '../kube-error.ts';
import type { StoredObject } from '../roles.ts';

/**
 * The guard of `metadata.uid` does not hold on `/status` of custom resources (seen on 1.36: 200, the uid is ignored).
 * Then the answer tells that the status of a successor was written, which its own next pass puts right.
 */
export function assertSameObject(
  { metadata: { uid } }: KubeObject,
  { object }: StoredObject,
): void {
  if (uid === undefined || uid === object.metadata.uid) return;
  const message = `Expected the object with uid "${uid}", found one with another`;
  throw new KubeError('uid-mismatch', message, { status: 409 });
}

/** @throws KubeError when it is none */
export function objectOf(body: unknown): KubeObject {
  const isObject = isJsonObject(body) && isJsonObject(body.metadata);
  if (isObject && typeof body.kind === 'string') return body as unknown as KubeObject;
  throw new KubeError('unexpected', 'Expected an object in the answer, found something else', {
    status: 200,
  });
}

/** A DELETE is answered with the object while it is there: finalizers hold it, or a Pod's grace period. */
export function stateAfterDelete(body: unknown): 'deleted' | 'deleting' {
  if (!isJsonObject(body) || body.kind === 'Status' || !isJsonObject(body.metadata))
    return 'deleted';
  return body.metadata.deletionTimestamp === undefined ? 'deleted' : 'deleting';
}
