import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ controllerManager: false });
const startHomeostat = useHomeostat(shared);

const group = 'before.example.com';
const definition = (name: string) =>
  thingDefinition(
    name,
    `  children:
    - id: near
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { of: ${name}, size: "\${ $string(spec.size) }" }
`,
    { group },
  );
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`;
const label = (name: string) => ({ metadata: { labels: { 'homeostat.dev/definition': name } } });

shared.describe('integration/renamed', () => {
  test('a definition with another name is rejected, and continues where the other was when that is allowed', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const homeostat = await startHomeostat({ 'one.yaml': definition('before') });
    await client.apply(thing('before', namespace, { size: 1 }));
    const path = thingPath('before', namespace);
    await client.untilObject(path, (found) => conditionOf(found)?.status === 'True');
    homeostat.write('one.yaml', definition('after'));
    const rejected = await homeostat.whenLogged('Definition rejected');
    assert.match(String(rejected.reason), /belongs to the definition "before".*"Renaming/);

    // As docs/operations.md says, when the old one has stopped.
    await homeostat.whenLogged('Definition stopped, its resources and their children are orphaned');
    const child = `/api/v1/namespaces/${namespace}/configmaps/one`;
    await client.patch(child, label('after'));
    await client.patch(crdPath, label('after'));
    await client.patch(path, { spec: { size: 2 } });
    const found = await client.untilObject(
      child,
      (object) => (object?.data as { size?: string } | undefined)?.size === '2',
    );
    assert.deepEqual(found?.data, { of: 'after', size: '2' });
    await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
  });
});
