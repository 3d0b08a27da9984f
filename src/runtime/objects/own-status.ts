import { type ApplyOptions, KubeError, type Writer } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';

/**
 * Writes the status of an object of Homeostat.
 * @returns whether the object still exists
 * @throws KubeError
 */
export async function writeOwnStatus(
  cluster: Pick<Writer, 'apply'>,
  { apiVersion, kind, metadata: { name, uid = '' } }: KubeObject,
  { status, ...options }: Pick<ApplyOptions, 'fieldManager' | 'flow' | 'pass'> & StatusOf,
  signal: AbortSignal,
): Promise<boolean> {
  const manifest = { apiVersion, kind, metadata: { name, uid }, status };
  try {
    await cluster.apply(manifest, { ...options, force: true, subresource: 'status' }, signal);
  } catch (error) {
    // It is deleted or was created anew; an event follows.
    const isGone = error instanceof KubeError && ['not-found', 'uid-mismatch'].includes(error.code);
    if (!isGone) throw error;
    return false;
  }
  return true;
}

interface StatusOf {
  readonly status: object;
}
