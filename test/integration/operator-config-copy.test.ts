import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { type PlaneClient, useControlPlane } from '../support/control-plane/index.ts';
import { statusOf } from '../support/definitions.ts';
import { operatorSuite, type Place } from '../support/operator-suite.ts';

const shared = useControlPlane({ audit: true });
const label = 'config.example.com/group';

/** The namespaces that a test copies to. */
const near = ({ namespace }: Pick<Place, 'namespace'>) => `near-${namespace}`;
const late = ({ namespace }: Pick<Place, 'namespace'>) => `late-${namespace}`;
const copyIn = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps/greeting`;
const copy = (place: Place) => copyIn(near(place));
const source = ({ namespace }: Place) => copyIn(namespace);

const greetingOf = (object: KubeObject | undefined) =>
  (object?.data as Readonly<Record<string, string>> | undefined)?.greeting;

async function makeNamespace(client: PlaneClient, name: string, group?: string): Promise<void> {
  const labels = group === undefined ? {} : { [label]: group };
  await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
}

const configMap = (namespace: string, greeting: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'greeting', namespace },
  data: { greeting },
});

shared.describe('integration/operator-config-copy', () => {
  const { stage, whileDown } = operatorSuite(shared, {
    name: 'config-copy',
    resource: {
      apiVersion: 'config.example.com/v1alpha1',
      kind: 'ConfigCopy',
      metadata: { name: 'copy' },
      // Each test has a group of its own, the name of its namespace.
      spec: { source: 'greeting' },
    },
    complete: ({ namespace }) => ({ group: namespace }),
    prepare: async (client, namespace) => {
      await makeNamespace(client, near({ namespace }), namespace);
      await client.apply(configMap(namespace, 'hello'));
      const other = { ...configMap(namespace, 'other'), metadata: { name: 'other', namespace } };
      await client.apply(other);
    },
    children: [copy],
    edits: [
      {
        what: 'another source',
        change: { spec: { source: 'other' } },
        path: (place) => copy(place).replace(/greeting$/, 'other'),
        isDone: (object) => greetingOf(object) === 'other',
      },
      {
        what: 'another source: the copy of the previous one is deleted',
        change: { spec: { source: 'other' } },
        path: copy,
        isDone: (object) => object === undefined,
      },
      {
        what: 'a group without members',
        change: { spec: { group: 'nobody' } },
        path: copy,
        isDone: (object) => object === undefined,
      },
    ],
    drifts: [
      {
        what: 'a copy that a user changes',
        path: copy,
        change: { data: { greeting: 'hacked' } },
        isBack: (object) => greetingOf(object) === 'hello',
      },
    ],
  });

  test('copies follow their source', async () => {
    const here = await stage();
    await here.client.patch(source(here), { data: { greeting: 'good evening' } });
    await here.client.untilObject(copy(here), (object) => greetingOf(object) === 'good evening');
  });

  test('a namespace that is made or labelled later gets a copy, one that loses the label loses it', async () => {
    const here = await stage();
    const { client, namespace } = here;
    await makeNamespace(client, late(here));
    await client.patch(`/api/v1/namespaces/${late(here)}`, {
      metadata: { labels: { [label]: namespace } },
    });
    await client.untilObject(copyIn(late(here)), (object) => greetingOf(object) === 'hello');
    await client.untilObject(
      here.path,
      (object) => (statusOf(object).namespaces as readonly string[] | undefined)?.length === 2,
    );
    await client.patch(`/api/v1/namespaces/${late(here)}`, {
      metadata: { labels: { [label]: null } },
    });
    await client.untilGone(copyIn(late(here)));
    assert.ok(await client.get(copy(here)));
  });

  test('a source that is deleted leaves the copies', async () => {
    const here = await stage();
    const { client } = here;
    await client.delete(source(here));
    await client.untilObject(here.path, (object) =>
      JSON.stringify(statusOf(object)).includes('reads.source'),
    );
    await shared.audit.quiet(1_000);
    assert.equal(greetingOf(await client.get(copy(here))), 'hello');
  });

  test('copies go with their owner, though it lives in another namespace, also when it is deleted while no process runs', async () => {
    const here = await stage();
    const { client } = here;
    await whileDown(async () => {
      await client.delete(here.path);
      assert.ok(await client.get(copy(here)));
    });
    await client.untilGone(copy(here));
    await client.untilGone(here.path);
  });

  test('an object of that name that another manager made is left alone', async () => {
    const here = await stage();
    const { client, namespace } = here;
    await makeNamespace(client, late(here));
    await client.apply(configMap(late(here), 'mine'));
    await client.patch(`/api/v1/namespaces/${late(here)}`, {
      metadata: { labels: { [label]: namespace } },
    });
    await client.untilObject(here.path, (object) =>
      JSON.stringify(statusOf(object)).includes('Conflict'),
    );
    assert.equal(greetingOf(await client.get(copyIn(late(here)))), 'mine');
    await client.delete(here.path);
    await client.untilGone(copy(here));
    assert.equal(greetingOf(await client.get(copyIn(late(here)))), 'mine');
  });
});
