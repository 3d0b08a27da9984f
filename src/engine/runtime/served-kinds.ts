import type { GroupKind, Gvk } from '#util/gvk.ts';
import type { RuntimeCluster } from './runner-options.ts';

/**
 * Returns those kinds that the API server serves.
 * @throws KubeError
 */
export async function servedKinds(
  kinds: readonly GroupKind[],
  cluster: RuntimeCluster,
  signal: AbortSignal,
): Promise<readonly Gvk[]> {
  const found: Gvk[] = [];
  for (const kind of kinds) {
    const type = await cluster.findKind(kind, signal);
    if (type !== undefined) found.push(type.gvk);
  }
  return found;
}
