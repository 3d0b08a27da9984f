import { type Gvk, gvkKey, gvkOf } from '../gvk.ts';

const [apps, batch] = ['apps/v1', 'batch/v1'];
const pod = gvkOf('v1', 'Pod');
const replicaSet = gvkOf(apps, 'ReplicaSet');
const job = gvkOf(batch, 'Job');
const endpointSlice = gvkOf('discovery.k8s.io/v1', 'EndpointSlice');

/** Kinds that the controllers of Kubernetes create for an object of a kind. */
const createdKinds: Readonly<Record<string, readonly Gvk[]>> = {
  [gvkKey(gvkOf(apps, 'Deployment'))]: [replicaSet],
  [gvkKey(replicaSet)]: [pod],
  [gvkKey(gvkOf(apps, 'StatefulSet'))]: [pod],
  [gvkKey(gvkOf(apps, 'DaemonSet'))]: [pod],
  [gvkKey(gvkOf(batch, 'CronJob'))]: [job],
  [gvkKey(job)]: [pod],
  [gvkKey(gvkOf('v1', 'Service'))]: [endpointSlice],
};

/** These kinds and all kinds that controllers create for them, without duplicates. */
export function withDescendants(kinds: readonly Gvk[]): readonly Gvk[] {
  const found = new Map<string, Gvk>();
  const add = (gvk: Gvk): void => {
    const key = gvkKey(gvk);
    if (found.has(key)) return;
    found.set(key, gvk);
    for (const below of createdKinds[key] ?? []) add(below);
  };
  for (const gvk of kinds) add(gvk);
  return [...found.values()];
}
