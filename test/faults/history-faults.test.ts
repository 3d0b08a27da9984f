import { after, before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import {
  type ProxiedPlane,
  type ProxiedRequest,
  startFaultProxy,
} from '../support/fault-proxy/index.ts';
import { createRuntimeNamespace } from '../support/homeostat.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { onEvent, onRequest } from './fault-case.ts';
import { otherFaults } from './other-faults.ts';

const shared = useControlPlane({ audit: true });

/** Keeps versions of ConfigMaps, and restores the one with the value that is asked for. */
const definition = thingDefinition(
  'journal',
  `  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { journal: "yes" } }, history: { keep: 20 } }
  vars:
    wanted: \${ history[object.data.a = $$.spec.restore] }
  patches:
    - id: restore
      when: \${ $exists(vars.wanted) }
      once: \${ spec.restore }
      create: true
      replace: true
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ vars.wanted[0].name }" }
      patch: \${ vars.wanted[0].object }
`,
);

shared.describe('faults/history-faults', () => {
  let plane: ProxiedPlane;
  let homeostat: HomeostatProcess;

  before(async () => {
    await createRuntimeNamespace(shared);
    plane = await startFaultProxy(shared.plane);
    homeostat = new HomeostatProcess({
      kubeconfig: plane.kubeconfig,
      definitions: { 'journal.yaml': definition },
    });
    await homeostat.whenReady();
  });
  after(async () => {
    await homeostat.stop();
    await plane.proxy.stop();
  });

  async function setUp() {
    const client = shared.client();
    const namespace = await shared.namespace();
    const app = `/api/v1/namespaces/${namespace}/configmaps/app`;
    const put = (a: string) =>
      client.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'app', namespace, labels: { journal: 'yes' } },
        data: { a },
      });
    const list = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;
    const untilValues = (...values: readonly string[]) =>
      client.untilList(
        list,
        (records) => JSON.stringify(valuesOf(records)) === JSON.stringify(values),
      );
    const restore = (value: string) =>
      client.patch(thingPath('journal', namespace), { spec: { restore: value } });
    const untilRestored = (a: string) => client.untilObject(app, (each) => dataOf(each) === a);
    /** Requests of the process to this namespace. */
    const here =
      (resource: string, ...methods: readonly string[]) =>
      (request: ProxiedRequest) =>
        request.resource === resource &&
        request.namespace === namespace &&
        methods.includes(request.method);
    await put('1');
    await client.apply(thing('journal', namespace, {}));
    await untilValues('1');
    return { client, namespace, app, put, untilValues, restore, untilRestored, here };
  }

  test(otherFaults.historyWatch.name, async () => {
    const { client, app, put, untilValues } = await setUp();
    const isConfigs = ({ resource, path }: ProxiedRequest) =>
      resource === 'configmaps' && path.includes('journal');
    const expiry = plane.proxy.inject(
      onEvent('ERROR 410', { kind: 'error', status: 410 }, { when: isConfigs, times: 1 }),
    );
    const hold = plane.proxy.inject(
      onRequest(
        'hold lists',
        { kind: 'hold', what: 'request' },
        { when: (request) => request.verb === 'list' && isConfigs(request) },
      ),
    );
    await put('2');
    await expiry.untilCount(1);
    await hold.untilCount(1);
    await put('3');
    await put('4');
    hold.remove();
    expiry.remove();
    await untilValues('1', '4');
    await put('5');
    await untilValues('1', '4', '5');
    await client.delete(app);
  });

  test(otherFaults.historyAnswers.name, async () => {
    const { put, untilValues, restore, untilRestored, here } = await setUp();
    const lost = (resource: string, method: string, times: number) =>
      plane.proxy.inject(
        onRequest(
          `answers to ${method} of ${resource}`,
          { kind: 'reset', when: 'after' },
          { when: here(resource, method), times },
        ),
      );
    const records = lost('controllerrevisions', 'PATCH', 2);
    for (const value of ['2', '3', '4']) await put(value);
    await untilValues('1', '2', '3', '4');
    await records.untilCount(2);
    records.remove();
    const replaced = lost('configmaps', 'PUT', 1);
    const noted = lost('things', 'PATCH', 1);
    await restore('2');
    await untilRestored('2');
    await untilValues('1', '2', '3', '4', '2');
    await replaced.untilCount(1);
    await noted.untilCount(1);
    replaced.remove();
    noted.remove();
    await shared.audit.quiet(2_000);
    await put('5');
    await untilValues('1', '2', '3', '4', '2', '5');
    await shared.audit.quiet(2_000);
    await untilRestored('5');
  });

  test(otherFaults.historyConflicts.name, async () => {
    const { client, namespace, put, untilValues, restore, untilRestored, here } = await setUp();
    const records = plane.proxy.inject(
      onRequest(
        '409',
        { kind: 'answer', status: 409 },
        { when: here('controllerrevisions', 'PATCH'), times: 3 },
      ),
    );
    await put('2');
    await put('3');
    await untilValues('1', '2', '3');
    await records.untilCount(3);
    records.remove();
    let edits = 0;
    const edit = plane.proxy.inject(
      onRequest(
        'an edit before the PUT',
        {
          kind: 'call',
          async run() {
            await put(`at once ${++edits}`);
            return 'forward';
          },
        },
        { when: here('configmaps', 'PUT'), times: 2 },
      ),
    );
    await restore('1');
    await edit.untilCount(2);
    await untilRestored('1');
    await untilValues('1', '2', '3', 'at once 1', 'at once 2', '1');
    await client.untilObject(
      thingPath('journal', namespace),
      (each) => conditionOf(each)?.reason === 'AllReady',
    );
  });

  // Last: all servers are started on the copy.
  test(otherFaults.historyRestored.name, async () => {
    const { client, namespace, app, put, untilValues } = await setUp();
    const list = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;
    /** The newest version has this value, and no mark of a deletion. */
    const untilNewest = (value: string) =>
      client.untilList(list, (records) => {
        const newest = sorted(records).at(-1);
        const mark = newest?.metadata.annotations?.['homeostat.dev/deleted-at'];
        return dataOf(newest?.data as never) === value && mark === undefined;
      });
    await put('2');
    await untilValues('1', '2');
    await shared.audit.quiet(1_000);
    const snapshot = await shared.plane.snapshotEtcd();
    for (const value of ['3', '4', '5']) await put(value);
    await untilValues('1', '2', '3', '4', '5');
    await client.delete(app);
    await client.untilGone(app);
    await shared.audit.quiet(1_000);
    await shared.plane.restoreEtcd(snapshot);
    await client.untilObject(app, (each) => dataOf(each) === '2');
    // Versions of after the backup are lost with it; the restored state is the newest version.
    await untilNewest('2');
    for (const value of ['6', '7']) {
      await put(value);
      await untilNewest(value);
    }
  });
});

function sorted(records: readonly KubeObject[]): readonly KubeObject[] {
  return [...records].sort((a, b) => Number(a.revision) - Number(b.revision));
}

function valuesOf(records: readonly KubeObject[]): readonly (string | undefined)[] {
  return sorted(records).map(({ data }) => dataOf(data as unknown as KubeObject));
}

function dataOf(object: KubeObject | undefined): string | undefined {
  return (object?.data as { readonly a?: string } | undefined)?.a;
}
