import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEstablished, useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  customKind,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane();
const startHomeostat = useHomeostat(shared);

const crdPath = (name: string) =>
  `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${name}.example.com`;
const configMapPath = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps/one`;

function definition(name: string): string {
  return thingDefinition(
    name,
    `  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "\${ spec.text }" }
`,
  );
}

const widgetCrd = customKind({
  group: 'widgets.example.com',
  kind: 'Widget',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        tags: { type: 'array', items: { type: 'string' } },
      },
    },
  },
});

shared.describe('integration/crd-life', () => {
  test('a CRD that is deleted under the process is installed again, and its resources work', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const homeostat = await startHomeostat({ 'gone.yaml': definition('gone') });
    await client.apply(thing('gone', namespace, { text: 'first' }));
    const first = await client.untilObject(
      configMapPath(namespace),
      (object) => object !== undefined,
    );
    const before = await client.get(crdPath('gone'));
    await client.delete(crdPath('gone'));
    await homeostat.whenLogged('Definition stopped, will restart');
    await client.untilObject(
      crdPath('gone'),
      (crd) => isEstablished(crd) && crd?.metadata.uid !== before?.metadata.uid,
    );
    await homeostat.whenLoggedTimes('Definition running', 2);
    const resource = thing('gone', namespace, { text: 'second' }, 'two');
    await client.apply(resource);
    const path = `/api/v1/namespaces/${namespace}/configmaps/two`;
    await client.untilObject(
      path,
      (object) => (object?.data as { text?: string } | undefined)?.text === 'second',
    );
    assert.ok(first);
    assert.equal(await client.get(thingPath('gone', namespace)), undefined);
  });

  test('a CRD that a user takes over is left to them', async () => {
    const client = shared.client();
    const homeostat = await startHomeostat({ 'taken.yaml': definition('taken') });
    await client.patch(crdPath('taken'), {
      metadata: { labels: { 'homeostat.dev/definition': 'other' } },
    });
    await homeostat.whenLogged('Definition stopped, will restart');
    const rejected = await homeostat.whenLogged('Definition rejected');
    assert.match(String(rejected.reason), /belongs to the definition "other"/);
    const crd = await client.get(crdPath('taken'));
    assert.equal(crd?.metadata.labels?.['homeostat.dev/definition'], 'other');
    await client.patch(crdPath('taken'), {
      metadata: { labels: { 'homeostat.dev/definition': 'taken' } },
    });
    await homeostat.whenLoggedTimes('Definition running', 2);
  });

  test('a child kind whose CRD comes later is made then, and compared by its schema', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const text = thingDefinition(
      'later',
      `  children:
    - id: widget
      template:
        apiVersion: widgets.example.com/v1
        kind: Widget
        metadata: { name: "\${ metadata.name }" }
        spec: { size: "\${ spec.size }", tags: "\${ spec.tags[on].name }" }
`,
    );
    const homeostat = await startHomeostat({ 'later.yaml': text });
    const tags = [{ on: true, name: 'one' }];
    await client.apply(thing('later', namespace, { size: 3, tags }));
    const waiting = await client.untilObject(
      thingPath('later', namespace),
      (object) => conditionOf(object)?.reason === 'KindMissing',
    );
    assert.match(conditionOf(waiting)?.message ?? '', /"Widget" of "widgets.example.com\/v1"/);
    await client.installCrd(widgetCrd);
    await homeostat.whenLogged('Kind is served now, restarting the definition');
    const path = `/apis/widgets.example.com/v1/namespaces/${namespace}/widgets/one`;
    // A single value in a list field is a list of one: only the schema tells.
    const made = await client.untilObject(path, (object) =>
      Array.isArray((object?.spec as { tags?: unknown } | undefined)?.tags),
    );
    assert.deepEqual(made?.spec, { size: 3, tags: ['one'] });
  });
});
