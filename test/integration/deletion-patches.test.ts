import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** Notes the last state of its child on a board, and deletes a cache. */
const leaver = thingDefinition(
  'leaver',
  `  children:
    - id: settings
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: settings }, data: { text: "\${ spec.text }" } }
  patches:
    - id: note
      at: Deletion
      target: { apiVersion: v1, kind: ConfigMap, name: board }
      patch: { data: { "\${ metadata.name }": "\${ children.settings.data.text }" } }
    - id: address
      at: Deletion
      when: \${ spec.hasService = true }
      target: { apiVersion: v1, kind: Service, name: web }
      status: true
      patch: { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } }
    - id: clear
      at: Deletion
      target: { apiVersion: v1, kind: ConfigMap, name: cache }
      delete: true
    - id: parent
      at: Deletion
      when: \${ $exists(spec.namespace) }
      target: { apiVersion: v1, kind: ConfigMap, name: tomb, namespace: "\${ spec.namespace }" }
      crossNamespace: { namespaces: ["homeostat-test-*"] }
      create: true
      patch: { data: { "\${ metadata.name }": gone } }
`,
);

/** Its child has no owner reference. */
const keeper = thingDefinition(
  'keeper',
  `  children:
    - id: settings
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: settings }, data: { text: "\${ spec.text }" } }
  patches:
    - id: note
      at: Deletion
      target: { apiVersion: v1, kind: ConfigMap, name: board }
      patch: { data: { "\${ metadata.name }": "\${ children.settings.data.text }" } }
  onDelete: { order: Parallel }
`,
);

function mapPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

function configMap(namespace: string, name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { a: 'b' } };
}

const isReady = (object: KubeObject | undefined) => conditionOf(object)?.status === 'True';

shared.describe('integration/deletion-patches', () => {
  before(async () => {
    await startHomeostat({ 'leaver.yaml': leaver, 'keeper.yaml': keeper });
  });

  test('is sent once in the deletion, before the children are deleted', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('leaver', namespace);
    for (const name of ['board', 'cache']) await client.apply(configMap(namespace, name));
    await client.apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace },
      spec: { type: 'LoadBalancer', ports: [{ name: 'http', port: 80 }] },
    } as KubeObject);
    const spec = { text: 'the last words', hasService: true, namespace };
    await client.apply(thing('leaver', namespace, spec));
    const live = await client.untilObject(path, isReady);
    assert.deepEqual(live?.metadata.finalizers, ['homeostat.dev/leaver']);
    await shared.audit.quiet(3_000);
    assert.deepEqual((await client.get(mapPath(namespace, 'board')))?.data, { a: 'b' });
    await client.must({ method: 'DELETE', path });
    await client.untilGone(path);
    assert.deepEqual((await client.get(mapPath(namespace, 'board')))?.data, {
      a: 'b',
      one: 'the last words',
    });
    assert.deepEqual((await client.get(mapPath(namespace, 'tomb')))?.data, { one: 'gone' });
    assert.equal(await client.get(mapPath(namespace, 'cache')), undefined);
    const service = await client.get(`/api/v1/namespaces/${namespace}/services/web`);
    assert.match(JSON.stringify(service?.status), /192\.0\.2\.1/);
    await client.untilGone(mapPath(namespace, 'settings'));
    await shared.audit.quiet(3_000);
  });

  test('with onDelete it is sent before the children also in a foreground deletion', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('keeper', namespace);
    await client.apply(thing('keeper', namespace, { text: 'early' }));
    await client.untilObject(path, isReady);
    await client.apply(configMap(namespace, 'board'));
    const body = { propagationPolicy: 'Foreground' };
    await client.must({ method: 'DELETE', path, body });
    await client.untilGone(path);
    const board = await client.get(mapPath(namespace, 'board'));
    assert.deepEqual(board?.data, { a: 'b', one: 'early' });
    await client.untilGone(mapPath(namespace, 'settings'));
  });

  test('targets that are gone, and a namespace that is being deleted, hold nothing', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('leaver', namespace);
    await client.apply(thing('leaver', namespace, { text: 'a', namespace }));
    await client.untilObject(path, isReady);
    await client.must({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
    await client.untilGone(path);
    await client.untilGone(`/api/v1/namespaces/${namespace}`);
  });

  test('one that cannot be rendered holds the deletion and says why, until it is skipped', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('leaver', namespace);
    await client.apply(thing('leaver', namespace, { text: 'a', namespace: 'kube-system' }));
    await client.untilObject(path, isReady);
    await client.must({ method: 'DELETE', path });
    const held = await client.untilObject(
      path,
      (object) => conditionOf(object)?.reason === 'RenderFailed',
    );
    assert.match(conditionOf(held)?.message ?? '', /^patches\.parent: .*kube-system/);
    assert.ok(await client.get(mapPath(namespace, 'settings')));
    const annotations = { 'homeostat.dev/skip-on-delete': 'true' };
    await client.patch(path, { metadata: { annotations } });
    await client.untilGone(path);
  });
});
