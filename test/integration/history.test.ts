import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { statusOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
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

const definitions = {
  'restore.yaml': thingDefinition(
    'restore',
    reads('{ keep: 10 }', JSON.stringify(journal)) + rollback + shown,
  ),
  'own.yaml': thingDefinition('own', reads('{ keep: 3 }', JSON.stringify(journal)) + shown),
};

shared.describe('integration/history', () => {
  let homeostat: HomeostatRuntime;

  before(async () => {
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

  test('a request that is there before the versions are listed is not lost', async () => {
    const { client, namespace, path, until } = await setUp('restore');
    await client.apply(config(namespace, '2'));
    await until('app 1 Changed 1');
    await homeostat.stop('SIGKILL');
    await client.patch(path, ask(1));
    homeostat = await startHomeostat(definitions);
    await untilData(namespace, { a: '1' });
  });
});
