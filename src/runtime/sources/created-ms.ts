import type { KubeObject } from '../../util/kube-object.ts';

/** When the object was made, in ms since the epoch; the far future where it does not say. */
export function sinceMsOf({ metadata }: KubeObject): number {
  const ms = Date.parse(metadata.creationTimestamp ?? '');
  return Number.isNaN(ms) ? Number.MAX_SAFE_INTEGER : ms;
}
