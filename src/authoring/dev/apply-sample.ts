import type { KubeCluster } from '#kube';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';

const fieldManager = 'homeostat-dev';
const flow = { name: 'dev', priority: 'object' } as const;

/** Applies a sample; without a namespace, to the namespace `default`. @throws KubeError `kind-missing` while its kind is not served */
export async function applySample(
  cluster: KubeCluster,
  object: KubeObject,
  signal: AbortSignal,
): Promise<'Created' | 'Applied'> {
  const gvk = gvkOf(object.apiVersion, object.kind);
  const type = cluster.resourceFor(gvk) ?? (await cluster.lookUp(gvk, signal));
  const namespace = object.metadata.namespace ?? 'default';
  const placed = type?.namespaced
    ? { ...object, metadata: { ...object.metadata, namespace } }
    : object;
  const result = await cluster.apply(placed, { fieldManager, force: true, flow }, signal);
  return result.created ? 'Created' : 'Applied';
}
