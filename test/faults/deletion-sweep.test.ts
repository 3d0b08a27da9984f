import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { type PlaneClient, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import {
  type ProxiedPlane,
  type RequestAction,
  startFaultProxy,
} from '../support/fault-proxy/index.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { onRequest } from './fault-case.ts';
import { otherFaults } from './other-faults.ts';

const shared = useControlPlane({ audit: true });

/** Two children elsewhere, one after the other, one that stays, and one that is created when the resource is deleted. */
const definition = thingDefinition(
  'sweep',
  `  children:
    - id: far
      forEach: [a, b]
      ordered: true
      crossNamespace: { namespaces: ["test-*"] }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "far-\${ $item }", namespace: "\${ spec.to }" }
    - id: secret
      after: [far]
      template: { apiVersion: v1, kind: Secret, metadata: { name: secret } }
    - id: kept
      deletionPolicy: Orphan
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: kept } }
  onDelete:
    children:
      - id: note
        template: { apiVersion: v1, kind: ConfigMap, metadata: { name: note } }
`,
);
/** Finalizer, four children, a status; then the note, that it is there, four deletions and a release, the finalizer. */
const leastWrites = 13;
const kinds = ['configmaps', 'secrets'];
const ownerLabel = 'homeostat.dev/owner-uid';

const fates = {
  'not carried out': 'drop',
  'carried out, its answer lost': 'forward',
} as const;

shared.describe('faults/deletion-sweep', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-sweep-'));
  let plane: ProxiedPlane;
  let homeostat: HomeostatProcess;

  before(async () => {
    plane = await startFaultProxy(shared.plane);
    homeostat = start();
    await homeostat.whenReady();
    await shared.plane.restartControllerManager();
  });
  after(async () => {
    await homeostat.stop();
    await plane.proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function start(): HomeostatProcess {
    return new HomeostatProcess({
      kubeconfig: plane.kubeconfig,
      definitions: { 'sweep.yaml': definition },
      folder,
    });
  }

  for (const [fate, whatFollows] of Object.entries(fates)) {
    test(`${otherFaults.deletionSweep.name}: ${fate}`, async (context) => {
      let nth = 1;
      while (await lifeAndDeath(nth, whatFollows)) nth++;
      context.diagnostic(`writes: ${nth - 1}`);
      assert.ok(nth > leastWrites, 'every write was met');
    });
  }

  /** A resource is created and deleted while the process is killed at one of its writes. False: there were fewer. */
  async function lifeAndDeath(nth: number, fate: 'drop' | 'forward'): Promise<boolean> {
    const client = shared.client();
    const [home, away] = [await shared.namespace(), await shared.namespace()];
    const path = thingPath('sweep', home);
    const kill = plane.proxy.inject(
      onRequest(`kill at write ${nth}`, killAction(fate), {
        when: ({ method, namespace }) =>
          ['PATCH', 'DELETE'].includes(method) && [home, away].includes(namespace),
        after: nth - 1,
        times: 1,
      }),
    );
    const restarted = kill.untilCount(1, 2 ** 30).then(restart, () => undefined);
    const made = await client.apply(thing('sweep', home, { to: away }));
    await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    await client.delete(path);
    await client.untilGone(path);
    const wasKilled = kill.count > 0;
    kill.remove();
    if (wasKilled) await restarted;
    const left = await objectsOf(client, [home, away], made);
    assert.deepEqual(left, [], `after a kill at write ${nth}`);
    const kept = await client.get(`/api/v1/namespaces/${home}/configmaps/kept`);
    assert.ok(kept, `after a kill at write ${nth}`);
    assert.equal(kept.metadata.labels?.[ownerLabel], undefined);
    return wasKilled;
  }

  async function restart(): Promise<void> {
    await homeostat.ended();
    homeostat = start();
    await homeostat.whenReady();
  }

  function killAction(fate: 'drop' | 'forward'): RequestAction {
    return {
      kind: 'call',
      async run() {
        await homeostat.stop('SIGKILL');
        return fate;
      },
    };
  }
});

/** What is there and says that it belongs to a resource. */
async function objectsOf(
  client: PlaneClient,
  namespaces: readonly string[],
  { metadata }: KubeObject,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const namespace of namespaces) {
    for (const kind of kinds) {
      const selector = `labelSelector=${ownerLabel}%3D${metadata.uid}`;
      const items = await client.list(`/api/v1/namespaces/${namespace}/${kind}?${selector}`);
      found.push(...items.map((item) => `${kind}/${item.metadata.name}`));
    }
  }
  return found;
}
