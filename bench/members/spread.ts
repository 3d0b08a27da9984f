import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../test/support/control-plane/index.ts';
import { type BenchKind, bodyOf, collectionOf, namespace } from '../isolation/definitions.ts';
import { inParallel } from '../isolation/neighbours.ts';
import {
  clusters,
  everywhere,
  kindNamed,
  launch,
  memoryMiB,
  register,
  type Stage,
  untilMetric,
} from './stage.ts';

export interface SpreadResult {
  readonly where: 'one cluster' | 'members';
  /** From the start of the process until every resource is ready. */
  readonly seconds: number;
  readonly peakMiB: number;
}

/** All resources in one cluster, and spread over members, in turns. The resources exist when the process starts. */
export async function benchSpread(
  { hub, members }: Stage,
  { resources, reps }: { readonly resources: number; readonly reps: number },
): Promise<readonly SpreadResult[]> {
  const results: SpreadResult[] = [];
  const names = members.map((_, index) => `member-${index}`);
  for (let rep = 0; rep < reps; rep++) {
    const one = kindNamed(`one-${rep}`);
    const many = kindNamed(`many-${rep}`, everywhere);
    results.push(await measure('one cluster', hub, { kind: one, planes: [hub], resources }));
    await prepareMembers(hub, names, members);
    results.push(await measure('members', hub, { kind: many, planes: members, resources }));
    for (const name of names) await hub.client().delete(`${clusters}/${name}`);
    await sleep(5_000);
  }
  return results;
}

/** Installs the kind `Cluster`, and registers the members. */
async function prepareMembers(
  hub: ControlPlane,
  names: readonly string[],
  members: readonly ControlPlane[],
): Promise<void> {
  const homeostat = launch(hub, [kindNamed('prepare', everywhere)]);
  try {
    await hub.client().untilList(clusters, () => true);
    for (const [index, member] of members.entries())
      await register(hub.client(), names[index] ?? '', member.kubeconfig('operator'));
    for (const name of names)
      await untilMetric(homeostat, 'homeostat_cluster_connected', 1, { cluster: name });
  } finally {
    await homeostat.stop();
  }
}

interface Setting {
  readonly kind: BenchKind;
  readonly planes: readonly ControlPlane[];
  readonly resources: number;
}

async function measure(
  where: SpreadResult['where'],
  hub: ControlPlane,
  { kind, planes, resources }: Setting,
): Promise<SpreadResult> {
  const first = launch(hub, [kind]);
  const path = `/apis/${kind.group}/v1/things`;
  for (const plane of planes) await plane.client().untilList(path, () => true);
  await first.stop();
  const all = Array.from({ length: resources }, (_, index) => index);
  await inParallel(
    all,
    (index) =>
      planes[index % planes.length]
        ?.client()
        .create(collectionOf(kind), bodyOf(kind, `thing-${index}`, 'a')) as Promise<unknown>,
  );
  await sleep(3_000);
  const startMs = performance.now();
  const homeostat = launch(hub, [kind]);
  try {
    const labels = { definition: kind.name, ready: 'True' };
    await untilMetric(homeostat, 'homeostat_resources', resources, labels);
    const seconds = (performance.now() - startMs) / 1_000;
    return { where, seconds, peakMiB: memoryMiB(homeostat, 'VmHWM') };
  } finally {
    await homeostat.stop();
    await clear(hub, kind, planes);
  }
}

/** The next run shall not see the objects of this one. */
async function clear(
  hub: ControlPlane,
  { name }: BenchKind,
  planes: readonly ControlPlane[],
): Promise<void> {
  const group = `${name}.example.com`;
  const definition = `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`;
  await hub.client().patch(definition, { metadata: { finalizers: null } });
  await hub.client().delete(definition);
  for (const plane of planes) {
    const client = plane.client();
    const collections = [
      `/api/v1/namespaces/${namespace}/configmaps`,
      `/apis/${group}/v1/namespaces/${namespace}/things`,
    ];
    for (const path of collections) await client.must({ method: 'DELETE', path });
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await client.delete(`${crds}/things.${group}`);
  }
}
