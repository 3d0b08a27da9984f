import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { schemaChange, testSchemaChanges } from '../../../../test/support/crd/schema-changes.ts';

testSchemaChanges({
  'what is the same': [
    ['type: string', 'type: string'],
    ['type: string', '{ type: string, nullable: false }'],
    [
      '{ type: array, items: { type: string } }',
      '{ type: array, x-kubernetes-list-type: atomic, items: { type: string } }',
    ],
    [
      'type: object',
      '{ type: object, x-kubernetes-map-type: granular, properties: {}, required: [] }',
    ],
    ['{ type: string, minLength: 0 }', 'type: string'],
    ['{ type: integer, minimum: 1, exclusiveMinimum: false }', '{ type: integer, minimum: 1 }'],
  ],
  'what is not known': [
    [
      'type: object',
      '{ type: object, x-kubernetes-new: 1 }',
      /changes "x-kubernetes-new" from nothing to "1": the effect on stored values is unknown/,
    ],
    ['{ type: object, dependencies: { a: [b] } }', 'type: object', /changes "dependencies"/],
    ['{ type: object, x-kubernetes-new: [1] }', '{ type: object, x-kubernetes-new: [1] }'],
  ],
});

describe('check/crd-change', () => {
  test('all reasons are reported, each at its place', () => {
    const before =
      'type: object\nproperties: { a: { type: string }, b: { type: integer, minimum: 0 } }';
    const after = 'type: object\nrequired: [b]\nproperties: { b: { type: integer, minimum: 1 } }';
    const at = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/x';
    assert.deepEqual(
      schemaChange(before, after)
        .map(({ path }) => path)
        .toSorted(),
      [`${at}/properties/a`, `${at}/properties/b/minimum`, `${at}/required`],
    );
  });
});
