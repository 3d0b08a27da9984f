// `npm run start:cluster`: the shipped operators and their samples on a control plane of their own, and what comes of it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '#util/kube-object.ts';
import { findFreePorts } from '../test/support/control-plane/free-ports.ts';
import {
  allBinaries,
  type ControlPlane,
  InstantKubelet,
  type PlaneClient,
  searchBinaries,
  startControlPlane,
} from '../test/support/control-plane/index.ts';

/** Of the Secret with the certificates of conversions. */
const runtimeNamespace = {
  ...{ apiVersion: 'v1', kind: 'Namespace' },
  metadata: { name: 'homeostat-system' },
};
const operators = readdirSync('operators').filter((name) => name.endsWith('.yaml'));

async function main(): Promise<void> {
  const { missing } = searchBinaries(allBinaries);
  if (missing.length > 0)
    console.log(`Building ${missing.join(', ')}: once, about five minutes ...`);
  console.log('Starting etcd, kube-apiserver and kube-controller-manager ...');
  const plane = await startControlPlane();
  const stopper = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopper.abort());
  const client = plane.client();
  const kubelet = new InstantKubelet(client);
  await client.apply(runtimeNamespace);
  const homeostat = await startHomeostat(plane);
  try {
    await whenRunning(homeostat, operators.length);
    kubelet.start({ namespace: 'default', selector: '!batch.kubernetes.io/job-name' });
    await applySamples(client);
    await completeJobs(client, kubelet);
    await showPodSet(client);
    if (process.stdout.isTTY) await untilStopped(plane, stopper.signal);
    else console.log('\nThere is no terminal to wait for a Ctrl-C: everything is stopped again.');
  } finally {
    await kubelet.stop();
    homeostat.kill('SIGTERM');
    await once(homeostat, 'exit');
    await plane.stop();
  }
}

/** Leaves the control plane to the user until Ctrl-C. */
async function untilStopped(plane: ControlPlane, signal: AbortSignal): Promise<void> {
  console.log('\nThe API is yours, until Ctrl-C stops everything:');
  console.log(`  export KUBECONFIG=${plane.kubeconfigPath()}`);
  console.log('  kubectl get podsets,deployments,pods');
  if (!signal.aborted) await once(signal, 'abort');
}

async function startHomeostat(plane: ControlPlane) {
  const [port] = await findFreePorts(1);
  const flags = ['--definitions', 'operators', '--http', 'off'];
  // The API server asks this process to convert between the versions of WebApp.
  const conversion = ['--webhook-url', `https://127.0.0.1:${port}`];
  const args = ['run', ...flags, ...conversion, '--kubeconfig', plane.kubeconfigPath()];
  return spawn('bin/homeostat', args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function whenRunning(
  homeostat: Awaited<ReturnType<typeof startHomeostat>>,
  count: number,
): Promise<void> {
  let running = 0;
  const lines = createInterface({ input: homeostat.stdout });
  await new Promise<void>((resolve, reject) => {
    homeostat.once('exit', (code) => reject(new Error(`homeostat ended with ${code}`)));
    lines.on('line', (line) => {
      const { msg, definition } = JSON.parse(line);
      if (msg !== 'Definition running') return;
      console.log(`Operator "${definition}" is running`);
      running++;
      if (running === count) resolve();
    });
  });
}

async function applySamples(client: PlaneClient): Promise<void> {
  for (const name of readdirSync('operators/samples')) {
    for (const document of parseAllDocuments(readFileSync(`operators/samples/${name}`, 'utf8'))) {
      const sample: KubeObject = document.toJS();
      await client.apply(sample);
      console.log(`Applied ${sample.kind} "${sample.metadata.name}"`);
    }
  }
}

/** There is no kubelet that would run the commands of Jobs: their Pods are marked as ended. */
async function completeJobs(client: PlaneClient, kubelet: InstantKubelet): Promise<void> {
  const jobs = await client.untilList(
    '/apis/batch/v1/namespaces/default/jobs',
    (found) => found.length > 0,
  );
  for (const { metadata } of jobs) await kubelet.completeJob('default', metadata.name);
}

async function showPodSet(client: PlaneClient): Promise<void> {
  const podsets = '/apis/apps.example.com/v1alpha1/namespaces/default/podsets';
  const isReady = ({ status }: KubeObject) =>
    (status as Status | undefined)?.conditions?.some(
      ({ type, status: s }) => type === 'Ready' && s === 'True',
    ) === true;
  const items = await client.untilList(
    podsets,
    (found) => found.length > 0 && found.every(isReady),
  );
  for (const item of items) {
    const { nodes = [], readyReplicas = 0 } = item.status as Status;
    console.log(
      `\nPodSet ${item.metadata.name} (size ${(item.spec as { size: number }).size}) is ready`,
    );
    console.log(`└─ Deployment ${item.metadata.name}, ${readyReplicas} ready replicas`);
    for (const [index, node] of nodes.entries()) {
      console.log(`   ${index === nodes.length - 1 ? '└─' : '├─'} Pod ${node}`);
    }
  }
}

interface Status {
  readonly nodes?: readonly string[];
  readonly readyReplicas?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

await main();
