import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ControlPlane,
  type PlaneClient,
  startControlPlane,
} from '../../test/support/control-plane/index.ts';
import { HomeostatProcess } from '../../test/support/homeostat-process.ts';
import { scrape, valueOfSamples } from '../../test/support/scrape.ts';
import { type BenchKind, goodKinds, namespace } from '../isolation/definitions.ts';

const limitMs = 600_000;
export const clusters = '/apis/homeostat.dev/v1alpha1/clusters';
export const secretNamespace = 'default';

/** A hub and members, each with an API server, on one etcd. */
export interface Stage {
  readonly hub: ControlPlane;
  readonly members: readonly ControlPlane[];
  stop(): Promise<void>;
}

export async function startStage(count: number): Promise<Stage> {
  const hub = await startControlPlane({ controllerManager: false });
  const members: ControlPlane[] = [];
  const stop = async () => {
    for (const plane of [...members, hub]) await plane.stop();
  };
  try {
    for (let index = 0; index < count; index++) {
      const etcd = { url: hub.etcdUrl, prefix: `member-${index}` };
      members.push(await startControlPlane({ controllerManager: false, etcd }));
    }
    for (const plane of [hub, ...members])
      await plane.client().create('/api/v1/namespaces', { metadata: { name: namespace } });
    return { hub, members, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A definition with one ConfigMap for each resource. @param more YAML below `spec` */
export function kindNamed(name: string, more = ''): BenchKind {
  const [first] = goodKinds(1) as [BenchKind];
  const text = first.text.replaceAll(first.name, name);
  return { name, group: `${name}.example.com`, text: `${text}${more}` };
}

/** In every member. */
export const everywhere = '  controller: { clusters: { selector: all } }\n';

export function launch(
  hub: ControlPlane,
  kinds: readonly BenchKind[],
  env: Readonly<Record<string, string>> = {},
): HomeostatProcess {
  return new HomeostatProcess({
    env,
    kubeconfig: hub.kubeconfigPath('operator'),
    definitions: Object.fromEntries(kinds.map(({ name, text }) => [`${name}.yaml`, text])),
    flags: ['--namespace', 'homeostat-bench', '--cluster-secrets', secretNamespace],
  });
}

/** Writes the Secret and the `Cluster` of a member. */
export async function register(
  client: PlaneClient,
  name: string,
  kubeconfig: string,
): Promise<void> {
  const secretRef = { namespace: secretNamespace, name };
  const stringData = { kubeconfig };
  await client.apply({ apiVersion: 'v1', kind: 'Secret', metadata: secretRef, stringData });
  await client.apply({
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { kubeconfig: { secretRef } },
  });
}

/**
 * Resolves when a value of the process is reached, with the time that it has taken in ms. `everyMs`: a page of many definitions costs the process
 * tens of milliseconds.
 */
export async function untilMetric(
  homeostat: HomeostatProcess,
  name: string,
  expected: number,
  labels: Readonly<Record<string, string>> = {},
  everyMs = 100,
): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    const value = valueOfSamples(await scrape(homeostat), name, labels);
    if (value >= expected) return performance.now() - startMs;
    if (performance.now() - startMs > limitMs)
      throw new Error(`${name} is ${value}, expected ${expected}`);
    await sleep(everyMs);
  }
}

/** A figure of `/proc/<pid>/status` in MiB: `VmRSS`, `VmHWM`. */
export function memoryMiB({ pid }: HomeostatProcess, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024;
}

/** CPU time of a process so far, in ms. */
export function cpuMs({ pid }: HomeostatProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  // In ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
