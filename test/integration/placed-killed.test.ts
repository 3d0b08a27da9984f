import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import {
  type FaultProxy,
  type ProxiedRequest,
  startFaultProxy,
} from '../support/fault-proxy/index.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { useMembers } from '../support/members.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const definitions = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
const path = thingPath('killed', 'default');
const mapPath = '/api/v1/namespaces/default/configmaps/one';

const text = thingDefinition(
  'killed',
  `  children:
    - id: far
      cluster: \${ spec.cluster }
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: one }, data: { level: "\${ spec.level }" } }
`,
);

/** What becomes of the write at which the process is killed. */
const fates = ['drop', 'forward'] as const;

shared.describe('integration/placed-killed', () => {
  const members = useMembers(shared, ['east', 'west']);
  const proxies: FaultProxy[] = [];
  let kubeconfig = '';
  let homeostat: HomeostatProcess | undefined;

  const start = () =>
    new HomeostatProcess({
      kubeconfig,
      flags: [
        ...['--sources', 'objects', '--namespace', 'homeostat-test'],
        ...['--runtime', 'hub-of-killed', '--cluster-secrets', 'default'],
      ],
    });

  before(async () => {
    const hub = await startFaultProxy(shared.plane);
    proxies.push(hub.proxy);
    kubeconfig = hub.kubeconfig;
    homeostat = start();
    await shared.client().untilList(definitions, () => true);
    await shared.client().apply(parseYaml(text) as unknown as KubeObject);
    await shared.client().untilList(members.collection, () => true);
    for (const name of ['east', 'west']) {
      const { proxy, kubeconfig: file } = await startFaultProxy(members.plane(name));
      proxies.push(proxy);
      await members.register(name, { kubeconfig: readFileSync(file, 'utf8') });
      await members.untilReason(name, 'Connected');
    }
    await shared.client().untilList('/apis/killed.example.com/v1/things', () => true);
  });
  after(async () => {
    await homeostat?.stop('SIGKILL');
    for (const proxy of proxies) await proxy.stop();
  });

  const isWriteOfResource = ({ verb, method, resource }: ProxiedRequest) =>
    method !== 'GET' &&
    verb !== 'watch' &&
    ['things', 'things/status', 'configmaps'].includes(resource);

  /** Kills the process at the write with this number; what is left to do is done by the next one. */
  function killAt(nth: number, fate: (typeof fates)[number]) {
    let writes = 0;
    const killed = Promise.withResolvers<void>();
    const faults = proxies.map((proxy) =>
      proxy.inject({
        name: `killed at ${nth}`,
        on: 'request',
        when: isWriteOfResource,
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
      }),
    );
    return {
      killed: killed.promise,
      wasKilled: () => writes >= nth,
      remove: () => {
        for (const fault of faults) fault.remove();
      },
    };
  }

  const untilReady = () =>
    shared.client().untilObject(path, (object) => {
      const { status, observedGeneration } = conditionOf(object) ?? {};
      return status === 'True' && observedGeneration === object?.metadata.generation;
    });
  const levelIn = async (name: string) =>
    ((await members.client(name).get(mapPath))?.data as { readonly level?: string } | undefined)
      ?.level;

  /** Creation, an edit, another cluster, deletion. */
  const steps: readonly (() => Promise<void>)[] = [
    ...[
      { level: '1', cluster: 'east' },
      { level: '2', cluster: 'east' },
      { level: '2', cluster: 'west' },
    ].map((spec) => async () => {
      await shared.client().apply(thing('killed', 'default', spec));
      await untilReady();
      for (const name of ['east', 'west'])
        if (name === spec.cluster) assert.equal(await levelIn(name), spec.level);
        // A process that was killed between both prunes the old one when it is connected to that member.
        else await members.client(name).untilGone(mapPath);
    }),
    async () => {
      await shared.client().delete(path);
      await shared.client().untilGone(path);
      for (const name of ['east', 'west']) assert.equal(await levelIn(name), undefined);
    },
  ];

  for (const fate of fates)
    test(`a process that is killed at any write in the life of a placed object leaves nothing behind: ${fate}`, async (context) => {
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
      assert.ok(nth - 2 >= 8, `${nth - 2} writes`);
    });
});
