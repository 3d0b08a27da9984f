import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { statusOf } from '../support/definitions.ts';
import {
  type FaultProxy,
  type ProxiedRequest,
  startFaultProxy,
} from '../support/fault-proxy/index.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { installedMap, installing, installOf, isReady } from '../support/installing.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const path = '/apis/homeostat.dev/v1alpha1/operatordefinitions/killed';
const maps = '/api/v1/namespaces/default/configmaps?labelSelector=homeostat.dev/child';

/** What becomes of the write at which the process is killed. */
const fates = ['drop', 'forward'] as const;

shared.describe('integration/install-killed', () => {
  let proxy: FaultProxy | undefined;
  let kubeconfig = '';
  let homeostat: HomeostatProcess | undefined;

  const start = () =>
    new HomeostatProcess({
      kubeconfig,
      flags: ['--sources', 'objects', '--namespace', 'homeostat-test', '--runtime', 'of-killed'],
    });

  before(async () => {
    const found = await startFaultProxy(shared.plane);
    proxy = found.proxy;
    kubeconfig = found.kubeconfig;
    homeostat = start();
    await shared.client().untilList(path.slice(0, path.lastIndexOf('/')), () => true);
  });
  after(async () => {
    await homeostat?.stop('SIGKILL');
    await proxy?.stop();
  });

  /** The writes of the objects and of their record. */
  const isWrite = ({ verb, method, resource, path }: ProxiedRequest) =>
    method !== 'GET' &&
    verb !== 'watch' &&
    (resource === 'configmaps' || path.includes('killed.install'));

  /** Kills the process at the write with this number; what is left to do is done by the next one. */
  function killAt(nth: number, fate: (typeof fates)[number]) {
    let writes = 0;
    const killed = Promise.withResolvers<void>();
    const fault = proxy?.inject({
      name: `killed at ${nth}`,
      on: 'request',
      when: isWrite,
      action: {
        kind: 'call',
        async run() {
          writes += 1;
          if (writes !== nth) return 'forward';
          await homeostat?.stop('SIGKILL');
          killed.resolve();
          return fate;
        },
      },
    });
    return {
      killed: killed.promise,
      wasKilled: () => writes >= nth,
      remove: () => fault?.remove(),
    };
  }

  const entries = (...names: readonly string[]) =>
    names.map((name) => installedMap(name, 'default')).join('');
  const removes = '  removalPolicy: Delete\n';
  const namesIn = (objects: readonly KubeObject[]) =>
    objects.map(({ metadata }) => metadata.name).sort();

  /** The definition has these objects, and no others, and they are on record. */
  async function install(...names: readonly string[]): Promise<void> {
    const client = shared.client();
    const text = installing('killed', entries(...names), removes);
    const { metadata } = await client.apply(parseYaml(text) as unknown as KubeObject);
    const wanted = names.map((name) => `killed-${name}`);
    await client.untilList(maps, (found) => String(namesIn(found)) === String(wanted));
    await client.untilObject(path, (object) => {
      const { observedGeneration = 0, revision } = statusOf(object);
      return (
        isReady(object) &&
        observedGeneration >= (metadata.generation ?? 0) &&
        installOf(object).definitionRevision === revision &&
        String(installOf(object).childInventory) ===
          String(wanted.map((name) => `ConfigMap default/${name}`))
      );
    });
  }

  /** Creation, edits, deletion. */
  const steps: readonly (() => Promise<void>)[] = [
    () => install('a', 'b'),
    () => install('a', 'c'),
    async () => {
      await shared.client().delete(path);
      await shared.client().untilGone(path);
      assert.deepEqual(namesIn(await shared.client().list(maps)), []);
    },
  ];

  test('a kind that leaves "install" before its objects are on record leaves none behind', async () => {
    const client = shared.client();
    const fault = proxy?.inject({
      name: 'nothing is recorded',
      on: 'request',
      when: ({ method, path }) => method !== 'GET' && path.includes('killed.install.status'),
      action: { kind: 'answer', status: 500 },
    });
    const secret = `
    - id: s
      template: { apiVersion: v1, kind: Secret, metadata: { name: killed-s, namespace: default } }`;
    await client.apply(parseYaml(installing('killed', entries('a'))) as unknown as KubeObject);
    await client.untilList(maps, (found) => String(namesIn(found)) === 'killed-a');
    await client.apply(parseYaml(installing('killed', secret, removes)) as unknown as KubeObject);
    await client.untilList('/api/v1/namespaces/default/secrets', (found) =>
      namesIn(found).includes('killed-s'),
    );
    fault?.remove();
    await client.untilList(maps, (found) => found.length === 0);
    await client.untilObject(path, isReady);
    await client.delete(path);
    await client.untilGone(path);
  });

  for (const fate of fates)
    test(`a process that is killed at any write of the objects of a definition leaves none behind: ${fate}`, async (context) => {
      let nth = 1;
      for (let wasKilled = true; wasKilled; nth++) {
        const kill = killAt(nth, fate);
        void kill.killed.then(() => {
          homeostat = start();
        });
        for (const step of steps) await step();
        wasKilled = kill.wasKilled();
        kill.remove();
      }
      context.diagnostic(`${nth - 2} writes`);
      assert.ok(nth - 2 >= 6, `${nth - 2} writes`);
    });
});
