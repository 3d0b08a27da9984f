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

/** What a Thing shows of its versions: `name version reason value`. */
const shown =
  "  status: { versions: \"${ history.(name & ' ' & version & ' ' & reason & ' ' & object.data.a) }\" }\n";

const reads = (options: string, selector = 'all', more = '') =>
  `  reads:\n    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: ${selector}, ${more}history: ${options} }\n`;

const journal = { matchLabels: { journal: 'yes' } };
/** Restores what `spec.rollback` names. */
const rollback = `  vars:
    wanted: \${ history[kind = $$.spec.rollback.kind and name = $$.spec.rollback.name and version = $$.spec.rollback.to] }
  patches:
    - id: rollback
      when: \${ $exists(vars.wanted) }
      once: \${ spec.rollback }
      create: true
      replace: true
      target: { apiVersion: "\${ vars.wanted.apiVersion }", kind: "\${ vars.wanted.kind }", namespace: "\${ vars.wanted.namespace }", name: "\${ vars.wanted.name }" }
      patch: \${ vars.wanted.object }
`;

const everywhere =
  'namespaceSelector: { matchLabels: { test/set: "${ spec.set }" } }, crossNamespace: { namespaces: ["far-*"] }, ';

const definitions = {
  'secrets.yaml': thingDefinition(
    'secrets',
    `  reads:
    - { id: keys, apiVersion: v1, kind: Secret, selector: all, history: { secrets: true } }
${rollback}  status: { versions: "\${ history.(name & ' ' & version) }", count: "\${ $count(reads.keys) }" }
`,
  ),
  'far.yaml': thingDefinition(
    'far',
    reads('{ keep: 10 }', JSON.stringify(journal), everywhere) +
      rollback.replace('and name', () => 'and namespace = $$.spec.rollback.namespace and name') +
      shown,
  ),
  'restore.yaml': thingDefinition(
    'restore',
    reads('{ keep: 10 }', JSON.stringify(journal)) + rollback + shown,
  ),
  'apps.yaml': thingDefinition(
    'apps',
    `  reads:
    - { id: apps, apiVersion: apps/v1, kind: Deployment, selector: all, history: {} }
${rollback}  status: { versions: "\${ history.version }" }
`,
  ),
  'merge.yaml': thingDefinition(
    'merge',
    reads('{ keep: 10 }', JSON.stringify(journal)) +
      rollback.replace('replace: true', 'replace: false') +
      shown,
  ),
  'own.yaml': thingDefinition('own', reads('{ keep: 3 }', JSON.stringify(journal)) + shown),
};

shared.describe('integration/history', () => {
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
  const configPath = (namespace: string, name = 'app') =>
    `/api/v1/namespaces/${namespace}/configmaps/${name}`;
  const recordsIn = (namespace: string) =>
    shared
      .client()
      .list(
        `/apis/apps/v1/namespaces/${namespace}/controllerrevisions?labelSelector=homeostat.dev/recorded-by`,
      );

  async function setUp(definition = 'own') {
    const client = shared.client();
    const namespace = await client.createNamespace('journal');
    await client.apply(config(namespace, '1'));
    await client.apply(thing(definition, namespace, {}));
    const path = thingPath(definition, namespace);
    const until = (...versions: readonly string[]) =>
      client.untilObject(
        path,
        (each) =>
          JSON.stringify([statusOf(each).versions ?? []].flat()) === JSON.stringify(versions),
      );
    const untilRecords = (count: number) =>
      client.untilList(
        `/apis/apps/v1/namespaces/${namespace}/controllerrevisions?labelSelector=homeostat.dev/recorded-by`,
        (records) => records.length === count,
      );
    await untilRecords(1);
    return { client, namespace, path, until, untilRecords };
  }

  test('each change and the deletion has its version', async () => {
    const { client, namespace, until } = await setUp();
    await client.apply(config(namespace, '2'));
    await until('app 1 Changed 1');
    await client.apply(config(namespace, '3'));
    await until('app 1 Changed 1', 'app 2 Changed 2');
    await client.delete(configPath(namespace));
    await until('app 1 Changed 1', 'app 2 Changed 2', 'app 3 Deleted 3');
    await client.apply(config(namespace, '3'));
    await client.apply(config(namespace, '4'));
    await until('app 2 Changed 2', 'app 3 Deleted 3', 'app 4 Changed 3');
    assert.equal((await recordsIn(namespace)).length, 4);
  });

  test('nothing is sent when nothing changes, also after a restart', async () => {
    const { client, namespace, until } = await setUp();
    await client.apply(config(namespace, '2'));
    await until('app 1 Changed 1');
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await shared.audit.quiet(2_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
    await homeostat.stop('SIGKILL');
    homeostat = await startHomeostat(definitions);
    await shared.audit.quiet(2_000);
    assert.equal((await recordsIn(namespace)).length, 2);
  });

  test('after a restart the states found are one version for all that was missed', async () => {
    const { client, namespace, until } = await setUp();
    await homeostat.stop('SIGKILL');
    await client.apply(config(namespace, '2'));
    await client.apply(config(namespace, '3'));
    homeostat = await startHomeostat(definitions);
    await until('app 1 Changed 1');
    await homeostat.stop('SIGKILL');
    await client.delete(configPath(namespace));
    homeostat = await startHomeostat(definitions);
    await until('app 1 Changed 1', 'app 2 Deleted 3');
  });

  const ask = (to: number, name = 'app') => ({
    spec: { rollback: { kind: 'ConfigMap', name, to } },
  });
  const untilData = (namespace: string, data: Readonly<Record<string, string>>) =>
    shared
      .client()
      .untilObject(
        configPath(namespace),
        (each) => JSON.stringify(each?.data) === JSON.stringify(data),
      );

  test('a changed object is restored exactly, once; the next edit stays', async () => {
    const { client, namespace, path, until } = await setUp('restore');
    await client.apply({ ...config(namespace, '2'), data: { a: '2', added: 'x' } });
    await until('app 1 Changed 1');
    await client.patch(path, ask(1));
    await untilData(namespace, { a: '1' });
    await until('app 1 Changed 1', 'app 2 Changed 2');
    await client.apply(config(namespace, '4'));
    await until('app 1 Changed 1', 'app 2 Changed 2', 'app 3 Changed 1');
    await shared.audit.quiet(1_000);
    await untilData(namespace, { a: '4' });
    await client.patch(path, ask(2));
    await untilData(namespace, { a: '2', added: 'x' });
  });

  test('a deleted object is restored, and is not a child', async () => {
    const { client, namespace, path, until } = await setUp('restore');
    await client.apply(config(namespace, '2'));
    await client.apply(config(namespace, '3'));
    await until('app 1 Changed 1', 'app 2 Changed 2');
    await client.delete(configPath(namespace));
    await until('app 1 Changed 1', 'app 2 Changed 2', 'app 3 Deleted 3');
    await client.patch(path, ask(2));
    const restored = await untilData(namespace, { a: '2' });
    assert.deepEqual(restored?.metadata.labels, { journal: 'yes' });
    assert.deepEqual(restored?.metadata.ownerReferences, undefined);
    await client.apply(config(namespace, '5'));
    await until('app 1 Changed 1', 'app 2 Changed 2', 'app 3 Deleted 3', 'app 4 Changed 2');
    await client.delete(path);
    await client.untilGone(path);
    await untilData(namespace, { a: '5' });
  });

  test('"replace" keeps the status, and labels, annotations, finalizers and owners that the version does not name', async () => {
    const client = shared.client();
    const namespace = await client.createNamespace('journal');
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/web`;
    const labels = { app: 'web' };
    const container = { name: 'main', image: 'nginx:1' };
    await client.apply({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace, labels: { team: 'a' }, annotations: { note: 'old' } },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    });
    const settings = await client.apply(config(namespace, '1', 'owner'));
    await client.apply(thing('apps', namespace, {}));
    const resource = thingPath('apps', namespace);
    await client.untilList(
      `/apis/apps/v1/namespaces/${namespace}/controllerrevisions?labelSelector=homeostat.dev/recorded-by`,
      (found) => found.length === 1,
    );
    const { uid } = settings.metadata;
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
    await client.patch(path, {
      metadata: {
        labels: { more: 'x', team: 'b' },
        annotations: { note: 'new', other: 'y' },
        finalizers: ['example.com/kept'],
        ownerReferences: [owner],
      },
      spec: {
        replicas: 1,
        minReadySeconds: 5,
        template: { spec: { containers: [{ ...container, image: 'nginx:2' }] } },
      },
    });
    await client.untilObject(resource, (each) => statusOf(each).versions === 1);
    await client.patch(resource, {
      spec: { rollback: { kind: 'Deployment', name: 'web', to: 1 } },
    });
    interface Spec {
      readonly minReadySeconds?: number;
      readonly replicas: number;
      readonly template: { readonly spec: { readonly containers: readonly { image: string }[] } };
    }
    const specOf = (each: KubeObject | undefined) => each?.spec as Spec | undefined;
    const restored = await client.untilObject(
      path,
      (each) => specOf(each)?.template.spec.containers[0]?.image === 'nginx:1',
    );
    assert.equal(specOf(restored)?.replicas, 0);
    assert.equal(specOf(restored)?.minReadySeconds ?? 0, 0);
    assert.deepEqual(restored?.metadata.labels, { more: 'x', team: 'a' });
    const { note, other } = restored?.metadata.annotations ?? {};
    assert.deepEqual({ note, other }, { note: 'old', other: 'y' });
    assert.deepEqual(restored?.metadata.finalizers, ['example.com/kept']);
    assert.equal(restored?.metadata.ownerReferences?.[0]?.uid, uid);
    await client.untilObject(resource, (each) => [statusOf(each).versions].flat().includes(2));
    await client.patch(path, { metadata: { finalizers: [] } });
  });

  test('without "replace" the fields of a version are merged', async () => {
    const { client, namespace, path, until } = await setUp('merge');
    await client.apply({ ...config(namespace, '2'), data: { a: '2', added: 'x' } });
    await until('app 1 Changed 1');
    await client.patch(path, ask(1));
    await untilData(namespace, { a: '1', added: 'x' });
  });

  test('a request that is there before the versions are listed is not lost', async () => {
    const { client, namespace, path, until } = await setUp('restore');
    await client.apply(config(namespace, '2'));
    await until('app 1 Changed 1');
    await homeostat.stop('SIGKILL');
    await client.patch(path, ask(1));
    homeostat = await startHomeostat(definitions);
    await untilData(namespace, { a: '1' });
  });

  test('the oldest versions beyond "keep" are deleted', async () => {
    const { client, namespace, until, untilRecords } = await setUp();
    for (let value = 2; value <= 7; value++) {
      await client.apply(config(namespace, String(value)));
      await until(
        ...[value - 3, value - 2, value - 1]
          .filter((version) => version > 0)
          .map((version) => `app ${version} Changed ${version}`),
      );
    }
    await untilRecords(4);
  });

  test('an object that is too large is reported and not recorded; a smaller state is', async () => {
    const { client, namespace, path, until } = await setUp();
    await client.apply(config(namespace, 'x'.repeat(1_048_500)));
    const failed = await client.untilObject(
      path,
      (each) => conditionOf(each)?.reason === 'LimitReached',
    );
    assert.match(
      conditionOf(failed)?.message ?? '',
      /history of ConfigMap "app": is larger than 1 MiB/,
    );
    await client.apply(config(namespace, '3'));
    await until('app 1 Changed 1');
    await client.untilObject(path, (each) => conditionOf(each)?.reason === 'AllReady');
  });

  test('two resources that read one object have versions of their own', async () => {
    const { client, namespace, until, untilRecords } = await setUp();
    const other = thing('own', namespace, {}, 'other');
    await client.apply(other);
    await untilRecords(2);
    const untilOther = (count: number) =>
      client.untilObject(
        thingPath('own', namespace, 'other'),
        (each) => [statusOf(each).versions ?? []].flat().length === count,
      );
    await untilOther(0);
    await client.apply(config(namespace, '2'));
    await until('app 1 Changed 1');
    await untilOther(1);
    await client.delete(thingPath('own', namespace, 'other'));
    await client.untilList(
      `/apis/apps/v1/namespaces/${namespace}/controllerrevisions?labelSelector=homeostat.dev/recorded-by`,
      (records) => records.length === 2,
    );
    await client.apply(config(namespace, '3'));
    await until('app 1 Changed 1', 'app 2 Changed 2');
  });

  test('versions of Secrets are Secrets, and are restored', async () => {
    const client = shared.client();
    const namespace = await client.createNamespace('journal');
    const secret = (password: string) =>
      client.apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'key', namespace },
        stringData: { password },
      });
    await secret('first');
    await client.apply(thing('secrets', namespace, {}));
    const records = `/api/v1/namespaces/${namespace}/secrets?labelSelector=homeostat.dev/recorded-by`;
    const [record] = await client.untilList(records, (found) => found.length === 1);
    assert.equal((record as { type?: string }).type, 'homeostat.dev/record');
    assert.equal((record as { immutable?: boolean }).immutable, true);
    await secret('second');
    const path = thingPath('secrets', namespace);
    const shownOf = (count: number) =>
      client.untilObject(
        path,
        (each) => statusOf(each).versions === 'key 1' && statusOf(each).count === count,
      );
    await shownOf(1);
    assert.deepEqual(
      await client.list(`/apis/apps/v1/namespaces/${namespace}/controllerrevisions`),
      [],
    );
    await client.patch(path, {
      spec: { rollback: { kind: 'Secret', name: 'key', to: 1 } },
    });
    await client.untilObject(
      `/api/v1/namespaces/${namespace}/secrets/key`,
      (each) => (each?.data as { password?: string } | undefined)?.password === btoa('first'),
    );
    assert.doesNotMatch(JSON.stringify(await client.get(path)), /first|second/);
  });

  test('versions in other namespaces are deleted with the resource; a namespace that leaves the selector keeps them', async () => {
    const client = shared.client();
    const [one, other] = [await client.createNamespace('far'), await client.createNamespace('far')];
    const home = await client.createNamespace('home');
    const label = (namespace: string, value: string | null) =>
      client.patch(`/api/v1/namespaces/${namespace}`, {
        metadata: { labels: { 'test/set': value } },
      });
    for (const namespace of [one, other]) {
      await label(namespace, home);
      await client.apply(config(namespace, '1'));
    }
    await client.apply(thing('far', home, { set: home }));
    const path = thingPath('far', home);
    const until = (count: number) =>
      client.untilObject(path, (each) => [statusOf(each).versions ?? []].flat().length === count);
    const recordsOf = (namespace: string, count: number) =>
      client.untilList(
        `/apis/apps/v1/namespaces/${namespace}/controllerrevisions?labelSelector=homeostat.dev/recorded-by`,
        (records) => records.length === count,
      );
    await recordsOf(one, 1);
    await recordsOf(other, 1);
    await client.apply(config(other, '2'));
    await until(1);
    await label(other, null);
    await shared.audit.quiet(1_000);
    await client.apply(config(other, '3'));
    const restoreOther = { kind: 'ConfigMap', namespace: other, name: 'app', to: 1 };
    await client.patch(path, { spec: { rollback: restoreOther } });
    const rejected = await client.untilObject(
      path,
      (each) => conditionOf(each)?.reason === 'RenderFailed',
    );
    assert.match(
      conditionOf(rejected)?.message ?? '',
      /is not in the scope of read "configs" any more/,
    );
    await client.untilObject(
      configPath(other),
      (each) => (each?.data as { a?: string } | undefined)?.a === '3',
    );
    await label(other, home);
    await client.untilObject(
      configPath(other),
      (each) => (each?.data as { a?: string } | undefined)?.a === '1',
    );
    await recordsOf(other, 4);
    await client.delete(path);
    await client.untilGone(path);
    await recordsOf(one, 0);
    await recordsOf(other, 0);
  });

  test('forged records and taken names change nothing', async () => {
    const { client, namespace, until, untilRecords } = await setUp();
    const [record] = await untilRecords(1);
    assert.ok(record);
    const { labels, name } = record.metadata;
    const forge = (forged: string, object: unknown) =>
      client.apply(
        {
          apiVersion: 'apps/v1',
          kind: 'ControllerRevision',
          revision: 9,
          data: object,
          metadata: { name: forged, namespace, ...(labels && { labels }) },
        },
        { fieldManager: 'somebody' },
      );
    await forge(name.replace(/1$/, '2'), { ...config(namespace, 'forged') });
    await forge('another-name', { ...config('kube-system', 'forged') });
    await client.apply(config(namespace, '2'));
    await until('app 1 Changed 1');
    await client.apply(config(namespace, '3'));
    await until('app 1 Changed 1', 'app 3 Changed 2');
    await client.delete(`/apis/apps/v1/namespaces/${namespace}/controllerrevisions/${name}`);
    await until('app 3 Changed 2');
  });

  test('a restore of what is not recorded waits', async () => {
    const { client, namespace, path, until } = await setUp('restore');
    await client.apply(config(namespace, '2'));
    await until('app 1 Changed 1');
    await client.apply(config(namespace, 'x'.repeat(1_048_500)));
    await client.untilObject(path, (each) => conditionOf(each)?.reason === 'LimitReached');
    await client.patch(path, ask(1));
    await client.untilObject(
      path,
      (each) => conditionOf(each)?.message?.includes('patches.rollback') === true,
    );
    assert.notDeepEqual((await client.get(configPath(namespace)))?.data, { a: '1' });
    await client.apply(config(namespace, '3'));
    await untilData(namespace, { a: '1' });
  });

  test('a paused resource records, and restores nothing', async () => {
    const { client, namespace, path, until, untilRecords } = await setUp('restore');
    const pause = (value: string | null) =>
      client.patch(path, { metadata: { annotations: { 'homeostat.dev/paused': value } } });
    await pause('true');
    await client.untilObject(path, (each) => conditionOf(each)?.reason === 'Paused');
    await client.apply(config(namespace, '2'));
    await untilRecords(2);
    await client.patch(path, ask(1));
    await shared.audit.quiet(1_000);
    await untilData(namespace, { a: '2' });
    await pause(null);
    await untilData(namespace, { a: '1' });
    await until('app 1 Changed 1', 'app 2 Changed 2');
  });
});
