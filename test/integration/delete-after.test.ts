import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, textMap, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane();
const startHomeostat = useHomeostat(shared);

const expiring = thingDefinition(
  'expiring',
  `  deleteAfter: { since: "\${ status.finishedAt }", ttl: "\${ spec.ttl }" }
  children:${textMap('map')}
  status: { finishedAt: "\${ status.finishedAt ?? (spec.done = true ? $now()) }" }
`,
);
const held = thingDefinition(
  'held',
  `  deleteAfter: { since: "\${ spec.finishedAt }", ttl: 1s }
  children:${textMap('map')}
  onDelete: { timeout: 10m }
`,
);
const mapPath = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps/one-map`;

shared.describe('integration/delete-after', () => {
  before(async () => {
    await startHomeostat({ 'expiring.yaml': expiring, 'held.yaml': held });
  });

  test('a resource deletes itself, with what it has created', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('expiring', namespace);
    await client.apply(thing('expiring', namespace, { ttl: '2s', text: 'a' }));
    await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    assert.ok(await client.get(mapPath(namespace)));
    await client.apply(thing('expiring', namespace, { ttl: '2s', text: 'a', done: true }));
    await client.untilObject(path, (object) => object === undefined);
    await client.untilObject(mapPath(namespace), (object) => object === undefined);
  });

  test('one with a finalizer is deleted in its order', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const path = thingPath('held', namespace);
    await client.apply(thing('held', namespace, { text: 'a' }));
    await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    const finishedAt = '2020-01-01T00:00:00Z';
    await client.apply(thing('held', namespace, { text: 'a', finishedAt }));
    await client.untilObject(path, (object) => object === undefined);
    assert.equal(await client.get(mapPath(namespace)), undefined);
  });
});
