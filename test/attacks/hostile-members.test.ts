import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseYaml } from '#definition';
import { startSandboxServer } from '#sandbox/node/index.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { createTestSandbox } from '../support/backends/index.ts';
import { PlaneClient } from '../support/control-plane/plane-client.ts';
import { thing, thingDefinition } from '../support/definitions.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import {
  type HostileMembers,
  kubeconfigOf,
  startHostileMembers,
} from '../support/hostile-members/index.ts';
import { patienceMs } from '../support/patience.ts';

const clusters = '/apis/homeostat.dev/v1alpha1/clusters';
/** 70 % of the memory limit of the chart. */
const heapMiB = 358;
const edits = 20;

const maps = thingDefinition(
  'maps',
  `  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { level: "\${ spec.level }" } } }]
  controller: { clusters: { selector: all } }
`,
);

/** An API server of a sandbox, in real time. */
async function startServer() {
  const sandbox = createTestSandbox({ basePath: '/server' });
  const server = await startSandboxServer({ sandbox, basePath: '/server' });
  const client = new PlaneClient({ server: server.url, caCertificate: '', token: 'a' });
  const stop = async () => {
    await server.stop();
    sandbox.stop();
  };
  return { client, kubeconfig: kubeconfigOf(server.url), stop };
}

describe('attacks/members: three hostile members beside a healthy one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
  let hub: Awaited<ReturnType<typeof startServer>>;
  let healthy: Awaited<ReturnType<typeof startServer>>;
  let hostile: HostileMembers;
  let homeostat: HomeostatProcess;

  async function register(name: string, kubeconfig: string) {
    const secret = { name, namespace: 'default' };
    const stringData = { kubeconfig };
    await hub.client.apply({ apiVersion: 'v1', kind: 'Secret', metadata: secret, stringData });
    await hub.client.apply({
      ...{ apiVersion: 'homeostat.dev/v1alpha1', kind: 'Cluster', metadata: { name } },
      spec: { kubeconfig: { secretRef: secret } },
    });
  }

  before(async () => {
    hub = await startServer();
    healthy = await startServer();
    hostile = await startHostileMembers();
    const path = join(folder, 'kubeconfig');
    writeFileSync(path, hub.kubeconfig);
    homeostat = new HomeostatProcess({
      kubeconfig: path,
      env: { NODE_OPTIONS: `--max-old-space-size=${heapMiB} --max-semi-space-size=4` },
      flags: [
        ...['--sources', 'objects', '--namespace', 'homeostat-test'],
        ...['--runtime', 'hub-of-hostile', '--cluster-secrets', 'default'],
      ],
    });
    ends.push(
      () => hub.stop(),
      () => healthy.stop(),
      () => hostile.stop(),
    );
    ends.push(() => homeostat.stop('SIGKILL'));
    await hub.client.untilList('/apis/homeostat.dev/v1alpha1/operatordefinitions', () => true);
    await hub.client.apply(parseYaml(maps) as unknown as KubeObject);
    await hub.client.untilList(clusters, () => true);
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
  });

  test('the hub lives, each probe is answered, and edits in the healthy member are applied', async () => {
    await register('healthy', healthy.kubeconfig);
    for (const [name, kubeconfig] of Object.entries(hostile.kubeconfigs))
      await register(name, kubeconfig);
    await healthy.client.untilList('/apis/maps.example.com/v1/things', () => true);
    const health = `${await homeostat.url()}/healthz`;
    for (let edit = 0; edit < edits; edit++) {
      const level = `level-${edit}`;
      await healthy.client.apply(thing('maps', 'default', { level }));
      const probe = await fetch(health, { signal: AbortSignal.timeout(patienceMs) });
      assert.equal(probe.status, 200);
      await healthy.client.untilObject(
        '/api/v1/namespaces/default/configmaps/one',
        (object) => (object?.data as { readonly level?: string } | undefined)?.level === level,
      );
    }
    for (const name of Object.keys(hostile.kubeconfigs))
      await hub.client.untilObject(`${clusters}/${name}`, (object) =>
        /LimitExceeded|DefinitionsFailing|Starting|Unreachable/.test(
          JSON.stringify(object?.status),
        ),
      );
    assert.equal(await Promise.race([homeostat.ended(), 'alive']), 'alive');
  });
});
