import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { createRuntimeNamespace, useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const configs = (history: string, selector = '{ matchLabels: { journal: "yes" } }') =>
  `  reads:\n    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: ${selector}, history: ${history} }\n`;
const shown =
  "  status: { versions: \"${ history.(name & ' ' & version & ' ' & reason & ' ' & object.data.a) }\" }\n";
const kept = (keep: number, maxDeletions: number) =>
  thingDefinition(
    'kept',
    `${configs(`{ keep: ${keep} }`)}  controller: { rollout: { perSecond: 0, maxDeletions: ${maxDeletions} } }\n`,
  );

const definitions = {
  'plain.yaml': thingDefinition('plain', configs('{}') + shown),
  'whole.yaml': thingDefinition(
    'whole',
    `${configs('{}')}    - { id: apps, apiVersion: apps/v1, kind: Deployment, selector: all, history: {} }
  status: { history: "\${ history }" }
`,
  ),
  'labels.yaml': thingDefinition('labels', configs('{ onChange: [metadata.labels] }') + shown),
  'spaces.yaml': thingDefinition(
    'spaces',
    `  reads:
    - { id: spaces, apiVersion: v1, kind: Namespace, selector: { matchLabels: { "test/set": "\${ spec.set }" } }, history: { onChange: [metadata.labels] } }
  status: { versions: "\${ history.(name & ' ' & version & ' ' & object.metadata.labels.step) }" }
`,
  ),
  'failing.yaml': thingDefinition(
    'failing',
    `${configs('{}')}  children:
    - id: child
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: child }, data: { a: "\${ $string($number(spec.text)) }" } }
`,
  ),
  'restless.yaml': thingDefinition(
    'restless',
    `${configs('{}')}  patches:
    - { id: count, patch: { spec: { count: "\${ (spec.count ?? 0) + 1 }" } } }
`,
  ),
  'often.yaml': thingDefinition('often', configs('{ keep: 100 }')),
  'kept.yaml': kept(10, 1),
  'ended.yaml': thingDefinition('ended', configs('{}')),
};

shared.describe('integration/history-records', () => {
  let homeostat: HomeostatRuntime;

  before(async () => {
    await createRuntimeNamespace(shared);
    homeostat = await startHomeostat(definitions);
  });

  const config = (namespace: string, a: string, name = 'app'): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { journal: 'yes' } },
    data: { a },
  });
  const listOf = (namespace: string) =>
    `/apis/apps/v1/namespaces/${namespace}/controllerrevisions?labelSelector=homeostat.dev/recorded-by`;
  const recordsIn = (namespace: string, count: number) =>
    shared.client().untilList(listOf(namespace), (records) => records.length === count);
  const valuesOf = (records: readonly KubeObject[]) =>
    [...records]
      .sort((one, other) => Number(one.revision) - Number(other.revision))
      .map(({ data }) => ((data as unknown as KubeObject).data as { readonly a: string }).a);

  async function setUp(definition: string, spec: object = {}) {
    const client = shared.client();
    const namespace = await client.createNamespace('records');
    await client.apply(config(namespace, '1'));
    await client.apply(thing(definition, namespace, spec));
    await recordsIn(namespace, 1);
    const path = thingPath(definition, namespace);
    const until = (...versions: readonly string[]) =>
      client.untilObject(
        path,
        (each) =>
          JSON.stringify([statusOf(each).versions ?? []].flat()) === JSON.stringify(versions),
      );
    return { client, namespace, path, until };
  }

  test('a record is a ControllerRevision with labels, annotations and an owner, and no label of children', async () => {
    const { client, namespace, path } = await setUp('plain');
    const [record] = await recordsIn(namespace, 1);
    const owner = await client.get(path);
    const object = await client.get(`/api/v1/namespaces/${namespace}/configmaps/app`);
    assert.ok(record && owner && object);
    const { name, labels, annotations = {}, ownerReferences } = record.metadata;
    assert.match(name, /^plain-[0-9a-f]{10}-1$/);
    assert.deepEqual(labels, {
      'app.kubernetes.io/managed-by': 'homeostat',
      'homeostat.dev/recorded-by': 'plain',
      'homeostat.dev/record-of': owner.metadata.uid,
      'homeostat.dev/read': 'configs',
    });
    const {
      'homeostat.dev/recorded-at': recordedAt = '',
      'homeostat.dev/signature': signature = '',
      ...others
    } = annotations;
    assert.match(signature, /^\d+\.[0-9a-f]{64}$/);
    assert.deepEqual(others, {
      'homeostat.dev/record-owner': `${namespace}/one`,
      'homeostat.dev/object': `ConfigMap ${namespace}/app`,
      'homeostat.dev/object-uid': object.metadata.uid,
    });
    assert.ok(Date.parse(recordedAt) > 0);
    const { uid } = owner.metadata;
    const { apiVersion, kind } = owner;
    assert.deepEqual(ownerReferences, [{ apiVersion, kind, name: 'one', uid }]);
    assert.deepEqual(record.data, config(namespace, '1'));
    await client.delete(`/api/v1/namespaces/${namespace}/configmaps/app`);
    const marked = await client.untilList(listOf(namespace), ([each]) =>
      Object.hasOwn(each?.metadata.annotations ?? {}, 'homeostat.dev/deleted-at'),
    );
    assert.deepEqual(marked[0]?.data, record.data);
  });

  test('`history` has each earlier version with its place, sorted by read, namespace, name and version', async () => {
    const client = shared.client();
    const namespace = await client.createNamespace('records');
    const app = (image: string) =>
      client.apply({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace },
        spec: {
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { containers: [{ name: 'main', image }] },
          },
        },
      });
    const { path } = await (async () => {
      for (const name of ['y', 'x']) await client.apply(config(namespace, '1', name));
      await app('nginx:1');
      await client.apply(thing('whole', namespace, {}));
      return { path: thingPath('whole', namespace) };
    })();
    await recordsIn(namespace, 3);
    for (const name of ['y', 'x']) await client.apply(config(namespace, '2', name));
    await app('nginx:2');
    await recordsIn(namespace, 6);
    await client.apply(config(namespace, '3', 'x'));
    await client.delete(`/api/v1/namespaces/${namespace}/configmaps/y`);
    interface Entry extends Readonly<Record<string, unknown>> {
      readonly object: KubeObject;
    }
    const shownEntries = (each: KubeObject | undefined) =>
      [(statusOf(each) as { readonly history?: Entry | readonly Entry[] }).history ?? []].flat();
    const listed = shownEntries(
      await client.untilObject(path, (each) => shownEntries(each).length === 5),
    );
    const deployed = { read: 'apps', apiVersion: 'apps/v1', kind: 'Deployment', namespace };
    const mapped = { read: 'configs', apiVersion: 'v1', kind: 'ConfigMap', namespace };
    assert.deepEqual(
      listed.map(({ time, object: _, ...place }) => {
        assert.ok(Date.parse(String(time)) > 0);
        return place;
      }),
      [
        { ...deployed, name: 'web', version: 1, reason: 'Changed' },
        { ...mapped, name: 'x', version: 1, reason: 'Changed' },
        { ...mapped, name: 'x', version: 2, reason: 'Changed' },
        { ...mapped, name: 'y', version: 1, reason: 'Changed' },
        { ...mapped, name: 'y', version: 2, reason: 'Deleted' },
      ],
    );
    const [first] = listed;
    assert.ok(first);
    assert.deepEqual(Object.keys(first.object).sort(), ['apiVersion', 'kind', 'metadata', 'spec']);
    // The Deployment controller may have added its annotation by then.
    const { annotations: _, ...metadata } = first.object.metadata;
    assert.deepEqual(metadata, { name: 'web', namespace });
  });

  test('only fields of "onChange" create a version, and a record has the whole object', async () => {
    const { client, namespace, until } = await setUp('labels');
    await client.apply(config(namespace, '2'));
    const labelled = config(namespace, '3');
    await client.apply({
      ...labelled,
      metadata: { ...labelled.metadata, labels: { journal: 'yes', more: 'x' } },
    });
    await until('app 1 Changed 1');
    const records = await recordsIn(namespace, 2);
    assert.deepEqual(valuesOf(records), ['1', '3']);
  });

  test('an object that is relabelled is not deleted; it is recorded again when it is back', async () => {
    const { client, namespace, until } = await setUp('plain');
    const path = `/api/v1/namespaces/${namespace}/configmaps/app`;
    const change = (journal: string, a: string) =>
      client.patch(path, { metadata: { labels: { journal } }, data: { a } });
    await change('no', '2');
    await shared.audit.quiet(1_000);
    const [record] = await recordsIn(namespace, 1);
    assert.equal(record?.metadata.annotations?.['homeostat.dev/deleted-at'], undefined);
    await change('no', '3');
    await change('yes', '4');
    await until('app 1 Changed 1');
    assert.deepEqual(valuesOf(await recordsIn(namespace, 2)), ['1', '4']);
  });

  test('records of cluster-scoped objects are in the namespace of the runtime, and are deleted with the resource', async () => {
    const client = shared.client();
    const home = await client.createNamespace('home');
    const space = await client.createNamespace('space');
    const label = (step: string) =>
      client.patch(`/api/v1/namespaces/${space}`, {
        metadata: { labels: { 'test/set': home, step } },
      });
    await label('1');
    await client.apply(thing('spaces', home, { set: home }));
    const path = thingPath('spaces', home);
    const all = '/apis/apps/v1/controllerrevisions?labelSelector=homeostat.dev/recorded-by=spaces';
    await client.untilList(all, (records) => records.length === 1);
    await label('2');
    await client.untilObject(path, (each) => statusOf(each).versions === `${space} 1 1`);
    const records = await client.untilList(all, (found) => found.length === 2);
    const places = new Set(records.map(({ metadata }) => metadata.namespace));
    assert.deepEqual([...places], ['homeostat-system']);
    assert.deepEqual(
      records.map(({ metadata }) => metadata.ownerReferences ?? []),
      [[], []],
    );
    await client.delete(path);
    await client.untilGone(path);
    assert.deepEqual(await client.list(all), []);
  });

  test('a resource that fails is recorded', async () => {
    const { client, namespace, path } = await setUp('failing', { text: 'no number' });
    await client.untilObject(path, (each) => conditionOf(each)?.reason === 'RenderFailed');
    for (const value of ['2', '3', '4']) {
      await client.apply(config(namespace, value));
      await client.untilList(listOf(namespace), (records) => valuesOf(records).includes(value));
    }
    assert.deepEqual(valuesOf(await recordsIn(namespace, 4)), ['1', '2', '3', '4']);
  });

  test('a resource that is unstable is recorded', async () => {
    const { client, namespace, path } = await setUp('restless');
    await client.untilObject(path, (each) => conditionOf(each)?.reason === 'Unstable');
    for (const value of ['2', '3']) {
      await client.apply(config(namespace, value));
      await client.untilList(listOf(namespace), (records) => valuesOf(records).includes(value));
    }
    assert.deepEqual(valuesOf(await recordsIn(namespace, 3)), ['1', '2', '3']);
  });

  test('more than 20 versions in a minute are throttled to the newest state, with an Event', async () => {
    const { client, namespace } = await setUp('often');
    for (let value = 2; value <= 30; value++) await client.apply(config(namespace, String(value)));
    const records = await client.untilList(listOf(namespace), (found) =>
      valuesOf(found).includes('30'),
    );
    const values = valuesOf(records);
    assert.deepEqual(
      values.slice(0, 20),
      Array.from({ length: 20 }, (_, index) => String(index + 1)),
    );
    // One every ten seconds that the edits take, and the newest.
    assert.equal(values.at(-1), '30');
    assert.ok(values.length < 30, `${values}`);
    const events = await client.untilList(
      `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
      (found) => found.some(({ reason }) => reason === 'HistoryThrottled'),
    );
    const throttled = events.filter(({ reason }) => reason === 'HistoryThrottled');
    assert.equal(throttled.length, 1);
    assert.equal(
      throttled[0]?.note,
      'ConfigMap "app" changes often: one version is recorded every 10 s',
    );
  });

  test('versions that a lower "keep" drops count for "maxDeletions"', async () => {
    const { client, namespace, path } = await setUp('kept');
    for (const value of ['2', '3', '4']) {
      await client.apply(config(namespace, value));
      await client.untilList(listOf(namespace), (records) => valuesOf(records).includes(value));
    }
    homeostat.write('kept.yaml', kept(1, 1));
    const held = await client.untilObject(
      '/apis/homeostat.dev/v1alpha1/operatordefinitions/kept',
      (each) => conditionOf(each)?.reason === 'DeletionsHeld',
    );
    const { deletions } = statusOf(held).rollout as { readonly deletions?: number };
    assert.equal(deletions, 2);
    await recordsIn(namespace, 4);
    // An edited resource has the new revision, and keeps the versions.
    await client.patch(path, { spec: { edited: true } });
    await client.untilObject(path, (each) =>
      /2 versions are no longer kept/.test(conditionOf(each)?.message ?? ''),
    );
    await recordsIn(namespace, 4);
    homeostat.write('kept.yaml', kept(1, 2));
    assert.deepEqual(valuesOf(await recordsIn(namespace, 2)), ['3', '4']);
    await client.untilObject(path, (each) => conditionOf(each)?.reason === 'AllReady');
  });

  test('records stay when the definition is removed', async () => {
    const { client, namespace } = await setUp('ended');
    await client.apply(config(namespace, '2'));
    await recordsIn(namespace, 2);
    homeostat.remove('ended.yaml');
    await client.untilGone('/apis/homeostat.dev/v1alpha1/operatordefinitions/ended');
    await shared.audit.quiet(1_000);
    assert.equal((await recordsIn(namespace, 2)).length, 2);
  });
});
