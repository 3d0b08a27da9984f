import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { conditionOf, thingDefinition } from '../support/definitions.ts';
import { DevProcess } from '../support/dev-process.ts';
import { patienceMs } from '../support/patience.ts';

/** It runs in every member. */
const agent = thingDefinition(
  'agent',
  `  children:
    - { id: settings, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { cluster: "\${ $cluster.name }" } } }
  controller: { clusters: { selector: all } }
`,
);
/** Its objects are placed in every member. */
const placed = thingDefinition(
  'placed',
  `  reads: [{ id: clusters, apiVersion: homeostat.dev/v1alpha1, kind: Cluster, selector: { matchLabels: { web: "true" } } }]
  children:
    - id: far
      forEach: \${ reads.clusters.metadata.name }
      cluster: \${ $item }
      crossCluster: { selector: { matchLabels: { web: "true" } } }
      template: { apiVersion: v1, kind: Secret, metadata: { name: far }, stringData: { cluster: "\${ $item }" } }
`,
);
const sampleOf = (definition: string) =>
  `{ apiVersion: ${definition}.example.com/v1, kind: Thing, metadata: { name: one }, spec: {} }\n`;

const folder = mkdtempSync(join(tmpdir(), 'homeostat-members-'));
const names = ['dev-1', 'dev-2', 'dev-3'];
const running = new Set<DevProcess>();

function start(...args: readonly string[]): DevProcess {
  const files = {
    'agent.yaml': agent,
    'placed.yaml': placed,
    'samples/agent.yaml': sampleOf('agent'),
    'samples/placed.yaml': sampleOf('placed'),
  };
  // Beside the definitions: they are no definitions.
  const kept = ['--persist', 'operators/cluster.json', '--clusters', '3', '--no-console'];
  const dev = new DevProcess({ folder, files, args: [...kept, ...args] });
  running.add(dev);
  return dev;
}

/** The address of the hub, or of a member. */
function serverOf({ kubeconfig }: DevProcess, name = 'homeostat-dev'): string {
  const { clusters } = parseYaml(readFileSync(kubeconfig, 'utf8')) as {
    readonly clusters: readonly { readonly name: string; readonly cluster: { server: string } }[];
  };
  return clusters.find((each) => each.name === name)?.cluster.server ?? '';
}

async function list(server: string, path: string): Promise<readonly KubeObject[]> {
  const answer = await fetch(`${server}${path}`);
  const { items = [] } = (await answer.json()) as { readonly items?: readonly KubeObject[] };
  return items;
}

const pollMs = 100;

/** Calls until it has a value. */
async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadlineMs) throw new Error(`Waited in vain until ${what}`);
    await sleep(pollMs);
  }
}

const clustersPath = '/apis/homeostat.dev/v1alpha1/clusters';

/** The `Cluster` objects once `Connected` has these statuses, and all definitions run in those that are connected. */
async function untilRunning(
  dev: DevProcess,
  connected: readonly string[],
): Promise<readonly KubeObject[]> {
  await dev.untilSaid(/Operator "agent" is running/);
  return until('all members are as expected', async () => {
    const clusters = await list(serverOf(dev), clustersPath);
    const found = clusters.map((each) => conditionOf(each, 'Connected')?.status);
    const isReady = clusters.every((each) => {
      const isConnected = conditionOf(each, 'Connected')?.status === 'True';
      return !isConnected || conditionOf(each)?.reason === 'Running';
    });
    return isReady && JSON.stringify(found) === JSON.stringify(connected) ? clusters : undefined;
  });
}

/** Everything that a restart must leave alone, with UIDs and versions. */
async function objectsOf(server: string, paths: readonly string[]): Promise<readonly string[]> {
  const lists = await Promise.all(paths.map((path) => list(server, path)));
  return lists
    .flat()
    .filter(({ metadata: { name } }) => name !== 'extra')
    .map(({ metadata: { namespace = '', name, uid, resourceVersion } }) =>
      [namespace, name, uid, resourceVersion].join(' '),
    )
    .sort();
}

const inMembers = [
  ...['/api/v1/namespaces', '/api/v1/configmaps', '/api/v1/secrets'],
  '/apis/agent.example.com/v1/things',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/coordination.k8s.io/v1/leases',
];
const onHub = ['/apis/placed.example.com/v1/things', clustersPath];

/** Those of the hub, and of each member. */
async function allObjects(dev: DevProcess) {
  const ofMembers = names.map((name) => objectsOf(serverOf(dev, name), inMembers));
  return { hub: await objectsOf(serverOf(dev), onHub), members: await Promise.all(ofMembers) };
}

describe('integration/dev-clusters-persist', () => {
  after(async () => {
    await Promise.all([...running].map((dev) => dev.stop('SIGKILL')));
    rmSync(folder, { recursive: true, force: true });
  });

  test('members, their identities, resources and placed objects are those of the last run, and nothing is created twice', async () => {
    const first = start();
    for (const name of names) {
      await first.untilSaid(new RegExp(`Cluster ${name} > Thing one > ConfigMap one`));
      await first.untilSaid(new RegExp(`Cluster ${name} > Secret far`));
    }
    let last: Awaited<ReturnType<typeof allObjects>> | undefined;
    const before = await until('the hub has counted, and writes no more', async () => {
      const clusters = await untilRunning(first, ['True', 'True', 'True']);
      const things = await list(serverOf(first), '/apis/placed.example.com/v1/things');
      const isDone = clusters.every(({ status }) => {
        const { placed: count, definitions = [] } = status as Status;
        return count === 1 && definitions.every(({ ready }) => ready === 1);
      });
      if (!isDone || conditionOf(things[0])?.status !== 'True') return undefined;
      const [earlier, now] = [last, await allObjects(first)];
      last = now;
      return isDeepStrictEqual(now, earlier) ? now : undefined;
    });
    assert.equal(await first.stop(), 0);

    const second = start();
    for (const name of names)
      await second.untilSaid(new RegExp(`Cluster ${name} > Thing one > ConfigMap one`));
    await untilRunning(second, ['True', 'True', 'True']);
    assert.deepEqual((await allObjects(second)).hub, before.hub);
    // It works on them: what a start writes is written before.
    const extra = {
      apiVersion: 'agent.example.com/v1',
      kind: 'Thing',
      metadata: { name: 'extra' },
    };
    for (const name of names) {
      const things = `${serverOf(second, name)}/apis/agent.example.com/v1/namespaces/default/things`;
      const headers = { 'content-type': 'application/json' };
      await fetch(things, { method: 'POST', headers, body: JSON.stringify(extra) });
      await second.untilSaid(new RegExp(`Cluster ${name} > Thing extra > ConfigMap extra`));
    }
    assert.deepEqual((await allObjects(second)).members, before.members);
    assert.doesNotMatch(second.output, /Created|Applied|cluster\.(?:dev-\d\.)?json/);
    assert.equal(await second.stop(), 0);
  });

  test('edited labels, and a member that was stopped, stay so in the next run', async () => {
    const first = start();
    await untilRunning(first, ['True', 'True', 'True']);
    const headers = { 'content-type': 'application/merge-patch+json' };
    const body = JSON.stringify({ metadata: { labels: { web: null, tier: 'edited' } } });
    const path = `${serverOf(first)}${clustersPath}/dev-1`;
    assert.equal((await fetch(path, { method: 'PATCH', headers, body })).status, 200);
    assert.equal((await first.run('dev', 'cluster', 'stop', 'dev-2')).code, 0);
    await untilRunning(first, ['True', 'False', 'True']);
    assert.equal(await first.stop(), 0);

    const second = start();
    const [dev1] = await untilRunning(second, ['True', 'False', 'True']);
    const { web, tier } = dev1?.metadata.labels ?? {};
    assert.deepEqual([web, tier], [undefined, 'edited']);
    assert.equal(await second.stop(), 0);
  });

  test('the files of members are locked, too', async () => {
    const first = start();
    await first.untilSaid(/Operator "agent" is running/);
    const other = new DevProcess({
      folder,
      files: {},
      args: ['--persist', 'operators/cluster.dev-2.json', '--write-kubeconfig', 'other'],
    });
    running.add(other);
    await other.untilSaid(
      /Another Homeostat process .* already uses "operators\/cluster\.dev-2\.json"/,
    );
    assert.equal(await other.ended(), 2);
    assert.equal(await first.stop(), 0);
  });
});

interface Status {
  readonly placed?: number;
  readonly definitions?: readonly { readonly ready?: number }[];
}
