import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, textMap, thing, thingDefinition } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';

const shared = useControlPlane({ controllerManager: false });
const launch = useRuntimes(shared);
const path = '/apis/homeostat.dev/v1alpha1/operatordefinitions/held';
const mark = 'homeostat.dev/paused';

shared.describe('integration/definition-paused', () => {
  test('it stays paused while its ConfigMap is deleted and made again', async () => {
    const [operators, namespace] = [await shared.namespace(), await shared.namespace()];
    const client = shared.client();
    const configMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      immutable: true,
      metadata: {
        name: 'defs',
        namespace: operators,
        labels: { 'homeostat.dev/definitions': 'true' },
      },
      data: { 'd.yaml': thingDefinition('held', `  children:${textMap('copy')}\n`) },
    };
    await client.apply(configMap);
    const process = launch({
      flags: ['--sources', 'configmaps', '--namespace', operators, '--withdraw-after', '1h'],
    });
    await process.whenReady();
    const until = (reason: string) =>
      client.untilObject(path, (object) => conditionOf(object)?.reason === reason);
    await until('Running');
    await client.patch(path, { metadata: { annotations: { [mark]: 'true' } } });
    await until('Paused');
    await client.apply(thing('held', namespace, { text: 'one' }, 'one'));

    await client.delete(`/api/v1/namespaces/${operators}/configmaps/defs`);
    await client.untilObject(
      path,
      (object) => object?.metadata.annotations?.['homeostat.dev/withdrawn'] !== undefined,
    );
    await client.apply(configMap);
    const object = await client.untilObject(
      path,
      (now) => now?.metadata.annotations?.['homeostat.dev/withdrawn'] === undefined,
    );
    assert.equal(conditionOf(object)?.reason, 'Paused');
    assert.equal(object?.metadata.annotations?.[mark], 'true');
    const copies = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/child=copy`;
    assert.deepEqual(await client.list(copies), []);

    await client.patch(path, { metadata: { annotations: { [mark]: null } } });
    await client.untilList(copies, (items) => items.length === 1);
  });
});
