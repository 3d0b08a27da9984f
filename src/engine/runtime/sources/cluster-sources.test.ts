import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { FakeCluster } from '../../../../test/support/fakes/fake-cluster.ts';
import { createConfigMapSource, manifestsInConfigMap } from './configmap-source.ts';
import type { DefinitionSource, SourceManifest } from './definition-source.ts';

const configMapGvk = gvkOf('v1', 'ConfigMap');
const verbs = ['get', 'list', 'watch'];
const types = [
  { gvk: configMapGvk, plural: 'configmaps', namespaced: true, hasStatus: false, verbs },
];

function configMap(name: string, fields: object = {}, metadata: object = {}): KubeObject {
  const labels = { 'homeostat.dev/definitions': 'true' };
  const all = { name, namespace: 'ops', labels, ...metadata };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: all, ...fields };
}

async function follow(t: TestContext, cluster: FakeCluster, source: DefinitionSource) {
  const stopper = new AbortController();
  const reported: string[] = [];
  const listener = {
    onManifests: (texts: readonly SourceManifest[]) =>
      void reported.push(texts.map(({ file, text }) => `${file}=${text.trim()}`).join(' ')),
    onError: (failure: string | undefined) => void reported.push(`failure: ${failure}`),
  };
  const running = source.run(listener, stopper.signal);
  t.after(async () => {
    stopper.abort();
    await running;
    assert.deepEqual(cluster.watched, []);
  });
  return {
    /** What was reported since the last call. */
    async said(): Promise<readonly string[]> {
      cluster.deliver();
      await new Promise(setImmediate);
      return reported.splice(0);
    },
  };
}

describe('runtime/sources/configmap-source', () => {
  test('the keys that may hold definitions, in order, named by their place', () => {
    const creationTimestamp = '2026-01-02T03:04:05Z';
    const data = { 'b.yml': 'b', 'a.yaml': 'a', 'c.json': '{}', notes: 'n', '.d.yaml': 'd' };
    const texts = manifestsInConfigMap(configMap('one', { data }, { creationTimestamp }));
    assert.deepEqual(
      texts.map(({ file, text }) => [file, text]),
      [
        ['configmap ops/one/a.yaml', 'a'],
        ['configmap ops/one/b.yml', 'b'],
        ['configmap ops/one/c.json', '{}'],
      ],
    );
    assert.deepEqual(texts[0]?.origin, { source: 'configmap', ref: 'ops/one/a.yaml' });
    assert.equal(texts[0]?.sinceMs, Date.parse(creationTimestamp));
  });

  test('a key that is no text is there and cannot be read', () => {
    const [text] = manifestsInConfigMap(
      configMap('one', { binaryData: { 'a.yaml': '/w==', b: '' } }),
    );
    assert.match(text?.unreadable ?? '', /binaryData/);
  });

  for (const where of ['labels', 'annotations']) {
    test(`what is made for a resource holds no definitions (${where})`, () => {
      const marks = { [where]: { 'homeostat.dev/owner-uid': 'u' } };
      const made = configMap('one', { data: { 'a.yaml': 'a' } }, marks);
      assert.deepEqual(manifestsInConfigMap(made), []);
    });
  }

  test('labelled ConfigMaps of the namespace are followed, and a list is reported as one', async (t) => {
    const cluster = new FakeCluster(types);
    const data = { 'a.yaml': 'a' };
    cluster.server.put(configMap('one', { data }));
    cluster.server.put(configMap('two', { data: { 'b.yaml': 'b' } }));
    cluster.server.put(configMap('plain', { data }, { labels: {} }));
    cluster.server.put(configMap('one', { data }, { namespace: 'other' }));
    const source = createConfigMapSource({ cluster, namespace: 'ops' });
    const { said } = await follow(t, cluster, source);
    assert.deepEqual(await said(), ['configmap ops/one/a.yaml=a configmap ops/two/b.yaml=b']);
    cluster.server.put(configMap('one', { data: { 'a.yaml': 'A' } }));
    cluster.server.delete(configMapGvk, { namespace: 'ops', name: 'two' });
    assert.deepEqual(await said(), ['configmap ops/one/a.yaml=A']);
    cluster.server.delete(configMapGvk, { namespace: 'ops', name: 'one' });
    assert.deepEqual(await said(), ['']);
    assert.ok(source.covers({ source: 'configmap', ref: 'ops/one/a.yaml' }));
    assert.equal(source.covers({ source: 'configmap', ref: 'ops2/one/a.yaml' }), false);
  });

  test('what may not be listed is a failure, and never no texts', async (t) => {
    const cluster = new FakeCluster(types);
    cluster.server.put(configMap('one', { data: { 'a.yaml': 'a' } }));
    const error = new KubeError('forbidden', 'configmaps is forbidden', { status: 403 });
    cluster.block('ConfigMap', error);
    const source = createConfigMapSource({ cluster, namespace: 'ops' });
    const { said } = await follow(t, cluster, source);
    assert.deepEqual(await said(), ['failure: configmaps is forbidden']);
    cluster.unblock('ConfigMap');
    assert.deepEqual(await said(), ['failure: undefined', 'configmap ops/one/a.yaml=a']);
  });
});
