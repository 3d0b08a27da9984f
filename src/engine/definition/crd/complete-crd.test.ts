import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { mapAt, valueAt } from '../tree.ts';
import { completeCrd, resolveCrd } from './complete-crd.ts';
import { standardStatusSchemas } from './standard-status.ts';

function complete(version: JsonObject, more: JsonObject = {}) {
  const names = { kind: 'PodSet', plural: 'podsets' };
  const crd = {
    group: 'apps.example.com',
    names,
    scope: 'Namespaced',
    versions: [version],
    ...more,
  };
  return completeCrd(resolveCrd(crd));
}

const plain = { name: 'v1', schema: { openAPIV3Schema: { type: 'object' } } };
const statusOf = (crd: object) =>
  mapAt(crd, '/spec/versions/0/schema/openAPIV3Schema/properties/status');
const columnsOf = (crd: object) =>
  (valueAt(crd, '/spec/versions/0/additionalPrinterColumns') as readonly { name: string }[]).map(
    ({ name }) => name,
  );
const withStatus = (properties: JsonObject) => ({
  name: 'v1',
  schema: {
    openAPIV3Schema: { type: 'object', properties: { status: { type: 'object', properties } } },
  },
});

describe('definition/crd/complete-crd', () => {
  test('omitted names, flags and the status subresource are filled in', () => {
    const crd = complete(plain);
    assert.deepEqual(
      [crd.apiVersion, crd.kind, crd.metadata],
      ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', { name: 'podsets.apps.example.com' }],
    );
    assert.deepEqual(valueAt(crd, '/spec/names'), {
      kind: 'PodSet',
      plural: 'podsets',
      singular: 'podset',
      listKind: 'PodSetList',
    });
    const { served, storage, subresources } = mapAt(crd, '/spec/versions/0');
    assert.deepEqual(
      { served, storage, subresources },
      { served: true, storage: true, subresources: { status: {} } },
    );
  });

  test('labels and annotations go to the metadata', () => {
    const metadata = { labels: { a: 'b' }, annotations: { c: 'd' } };
    const crd = complete(plain, { metadata });
    assert.deepEqual(crd.metadata, { name: 'podsets.apps.example.com', ...metadata });
    assert.equal(valueAt(crd, '/spec/metadata'), undefined);
  });

  test('a schema without a status gets the standard fields', () => {
    assert.deepEqual(statusOf(complete(plain)), {
      type: 'object',
      properties: standardStatusSchemas,
    });
  });

  test("the author's status fields and keywords are kept with the standard ones", () => {
    const status = statusOf(complete(withStatus({ phase: { type: 'string' } })));
    assert.deepEqual(Object.keys(mapAt(status, '/properties')), [
      'phase',
      'conditions',
      'children',
      'childCounts',
      'childInventory',
      'definitionRevision',
      'observedGeneration',
    ]);
  });

  test("the author's conditions get the standard properties and keep their own", () => {
    const own = {
      type: 'array',
      items: {
        type: 'object',
        properties: { type: { type: 'string', maxLength: 5 }, extra: { type: 'string' } },
      },
    };
    const conditions = mapAt(
      statusOf(complete(withStatus({ conditions: own }))),
      '/properties/conditions',
    );
    assert.equal(conditions['x-kubernetes-list-type'], undefined);
    const properties = mapAt(conditions, '/items/properties');
    assert.deepEqual(properties.type, { type: 'string', maxLength: 5 });
    assert.deepEqual(Object.keys(properties).sort(), [
      'extra',
      'lastTransitionTime',
      'message',
      'observedGeneration',
      'reason',
      'status',
      'type',
    ]);
  });

  test('scale is kept with status', () => {
    const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' };
    const crd = complete({ ...plain, subresources: { scale } });
    assert.deepEqual(valueAt(crd, '/spec/versions/0/subresources'), { scale, status: {} });
  });

  for (const [own, expected] of [
    [[], ['Ready', 'Reason', 'Age']],
    [['Size'], ['Size', 'Ready', 'Reason', 'Age']],
    [
      ['Age', 'ready'],
      ['Age', 'ready', 'Reason'],
    ],
  ] as const) {
    test(`columns [${own}] become [${expected}]`, () => {
      const additionalPrinterColumns = own.map((name) => ({
        name,
        type: 'string',
        jsonPath: '.a',
      }));
      assert.deepEqual(columnsOf(complete({ ...plain, additionalPrinterColumns })), expected);
    });
  }

  test('with several versions no flags are filled in, and each gets the standard fields', () => {
    const versions = [
      { ...plain, served: true, storage: true },
      { ...plain, name: 'v2', served: false, storage: false },
    ];
    const crd = complete(plain, { versions });
    for (const index of [0, 1]) {
      const version = mapAt(crd, `/spec/versions/${index}`);
      assert.deepEqual([version.served, version.storage], [index === 0, index === 0]);
      const status = mapAt(version, '/schema/openAPIV3Schema/properties/status');
      assert.deepEqual(status.properties, standardStatusSchemas);
    }
  });

  test('completing a complete CRD changes nothing', () => {
    const once = complete(withStatus({ phase: { type: 'string' } }));
    assert.deepEqual(completeCrd(resolveCrd(mapAt(once, '/spec'))), once);
  });
});
