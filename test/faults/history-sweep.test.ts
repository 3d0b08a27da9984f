import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { type ProxiedPlane, startFaultProxy } from '../support/fault-proxy/index.ts';
import { createRuntimeNamespace } from '../support/homeostat.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { onRequest } from './fault-case.ts';
import { otherFaults } from './other-faults.ts';

const shared = useControlPlane({ audit: true });

/** Keeps two versions of ConfigMaps elsewhere, and restores one. */
const definition = thingDefinition(
  'journal',
  `  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { journal: "yes" } }, namespace: "\${ spec.to }", crossNamespace: { namespaces: ["test-*"] }, history: { keep: 2 } }
  vars:
    wanted: \${ history[object.data.a = $$.spec.restore] }
  patches:
    - id: restore
      when: \${ $exists(vars.wanted) }
      once: \${ spec.restore }
      create: true
      replace: true
      target: { apiVersion: v1, kind: ConfigMap, namespace: "\${ vars.wanted[0].namespace }", name: "\${ vars.wanted[0].name }" }
      patch: \${ vars.wanted[0].object }
`,
);
/** Finalizer, four records, a deletion mark, a trimmed record, two restores with a note each, the removal of records and finalizer. */
const leastWrites = 12;
const fates = {
  'not carried out': 'drop',
  'carried out, its answer lost': 'forward',
} as const;

shared.describe('faults/history-sweep', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-history-'));
  let plane: ProxiedPlane;
  let homeostat: HomeostatProcess;

  before(async () => {
    await createRuntimeNamespace(shared);
    plane = await startFaultProxy(shared.plane);
    homeostat = start();
    await homeostat.whenReady();
  });
  after(async () => {
    await homeostat.stop();
    await plane.proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function start(): HomeostatProcess {
    return new HomeostatProcess({
      kubeconfig: plane.kubeconfig,
      definitions: { 'journal.yaml': definition },
      folder,
    });
  }

  for (const [fate, whatFollows] of Object.entries(fates)) {
    test(`${otherFaults.historySweep.name}: ${fate}`, async (context) => {
      let nth = 1;
      while (await recordAndRestore(nth, whatFollows)) nth++;
      context.diagnostic(`writes: ${nth - 1}`);
      assert.ok(nth > leastWrites, 'every write was met');
    });
  }

  /** Objects are edited, restored, deleted and restored while the process is killed at one of its writes. False: there were fewer. */
  async function recordAndRestore(nth: number, fate: 'drop' | 'forward'): Promise<boolean> {
    const client = shared.client();
    const [home, away] = [await shared.namespace(), await shared.namespace()];
    const path = thingPath('journal', home);
    const app = `/api/v1/namespaces/${away}/configmaps/app`;
    const kill = plane.proxy.inject(
      onRequest(
        `kill at write ${nth}`,
        {
          kind: 'call',
          async run() {
            await homeostat.stop('SIGKILL');
            return fate;
          },
        },
        {
          when: ({ method, namespace }) =>
            ['PATCH', 'PUT', 'DELETE'].includes(method) && [home, away].includes(namespace),
          after: nth - 1,
          times: 1,
        },
      ),
    );
    const restarted = kill.untilCount(1, 2 ** 30).then(restart, () => undefined);
    const put = (a: string): Promise<KubeObject> =>
      client.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'app', namespace: away, labels: { journal: 'yes' } },
        data: { a },
      });
    const untilData = (a: string) => client.untilObject(app, (object) => dataOf(object) === a);
    const values = async () => (await recordsIn(away)).map(({ data }) => dataOf(data as never));
    const untilRecorded = (last: string, isDeleted = false) =>
      client.untilList(`/apis/apps/v1/namespaces/${away}/controllerrevisions`, (records) => {
        const newest = sorted(records).at(-1);
        const mark = newest?.metadata.annotations?.['homeostat.dev/deleted-at'];
        return dataOf(newest?.data as never) === last && (mark !== undefined) === isDeleted;
      });
    await put('1');
    await client.apply(thing('journal', home, { to: away }));
    await untilRecorded('1');
    await put('2');
    await untilRecorded('2');
    await client.patch(path, { spec: { restore: '1' } });
    await untilData('1');
    await untilRecorded('1');
    // Nothing undoes an edit, whenever the process was killed: the value of the request is stored by then.
    await client.untilObject(
      path,
      (object) => object?.metadata.annotations?.['once.homeostat.dev/journal'] !== undefined,
    );
    await put('3');
    await untilRecorded('3');
    await client.delete(app);
    await untilRecorded('3', true);
    await client.patch(path, { spec: { restore: '2' } });
    await untilData('2');
    await untilRecorded('2');
    const left = await values();
    assert.ok(left.length <= 4 && isPartOf(left, ['1', '2', '1', '3', '2']), `${left}`);
    await client.delete(path);
    await client.untilGone(path);
    const wasKilled = kill.count > 0;
    kill.remove();
    if (wasKilled) await restarted;
    assert.deepEqual(await recordsIn(away), [], `after a kill at write ${nth}`);
    assert.equal(dataOf(await client.get(app)), '2');
    return wasKilled;
  }

  async function recordsIn(namespace: string): Promise<readonly KubeObject[]> {
    const list = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;
    return sorted(await shared.client().list(list));
  }

  async function restart(): Promise<void> {
    await homeostat.ended();
    homeostat = start();
    await homeostat.whenReady();
  }
});

function sorted(records: readonly KubeObject[]): readonly KubeObject[] {
  return [...records].sort((a, b) => Number(a.revision) - Number(b.revision));
}

function dataOf(object: KubeObject | undefined): string | undefined {
  return (object?.data as { readonly a?: string } | undefined)?.a;
}

function isPartOf(part: readonly (string | undefined)[], whole: readonly string[]): boolean {
  let at = -1;
  return part.every((each) => {
    at = whole.indexOf(each ?? '', at + 1);
    return at >= 0;
  });
}
