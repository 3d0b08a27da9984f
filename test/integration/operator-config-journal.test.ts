import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { statusOf } from '../support/definitions.ts';
import { createRuntimeNamespace } from '../support/homeostat.ts';
import { operatorSuite, type Place } from '../support/operator-suite.ts';

const shared = useControlPlane({ audit: true });
const label = 'journal.example.com/group';

const settings = ({ namespace }: Pick<Place, 'namespace'>) =>
  `/api/v1/namespaces/${namespace}/configmaps/settings`;
const colorOf = (object: KubeObject | undefined) =>
  (object?.data as { readonly color?: string } | undefined)?.color;

shared.describe('integration/operator-config-journal', () => {
  before(() => createRuntimeNamespace(shared));
  const { stage, whileDown } = operatorSuite(shared, {
    name: 'config-journal',
    resource: {
      apiVersion: 'journal.example.com/v1alpha1',
      kind: 'ConfigJournal',
      metadata: { name: 'journal' },
      spec: {},
    },
    // Each test has a group of its own, the name of its namespace.
    complete: ({ namespace }) => ({ group: namespace }),
    prepare: async (client, namespace) => {
      await client.patch(`/api/v1/namespaces/${namespace}`, {
        metadata: { labels: { [label]: namespace } },
      });
      await client.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'settings', namespace },
        data: { color: 'red' },
      });
    },
    children: [],
    edits: [
      {
        what: 'a rollback to a version that does not exist changes nothing',
        change: {
          spec: { rollback: { kind: 'ConfigMap', namespace: 'x', name: 'settings', to: 9 } },
        },
        path: settings,
        isDone: (object) => colorOf(object) === 'red',
      },
    ],
    drifts: [],
  });

  test('an edited and a deleted ConfigMap are restored, once, also when it is asked for while no process runs', async () => {
    const here = await stage();
    const { client, namespace, path } = here;
    const untilVersions = (count: number) =>
      client.untilObject(path, (object) => statusOf(object).versions === count);
    const ask = (to: number) =>
      client.patch(path, {
        spec: { rollback: { kind: 'ConfigMap', namespace, name: 'settings', to } },
      });
    const untilColor = (color: string) =>
      client.untilObject(settings(here), (object) => colorOf(object) === color);
    const before = statusOf(await client.get(path)).versions as number;
    await client.untilList(
      `/apis/apps/v1/namespaces/${namespace}/controllerrevisions?labelSelector=homeostat.dev/read=configs`,
      (records) => JSON.stringify(records).includes('"color":"red"'),
    );
    await client.patch(settings(here), { data: { color: 'green' } });
    await untilVersions(before + 1);
    await ask(1);
    await untilColor('red');
    await untilVersions(before + 2);
    await client.patch(settings(here), { data: { color: 'blue' } });
    await untilVersions(before + 3);
    await shared.audit.quiet(1_000);
    await untilColor('blue');
    await whileDown(async () => {
      await client.delete(settings(here));
      await ask(2);
    });
    await untilColor('green');
    assert.equal((await client.get(settings(here)))?.metadata.ownerReferences, undefined);
  });
});
