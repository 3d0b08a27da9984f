import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { shapeOf } from './field-type.ts';
import { FieldTypeBuilder } from './field-type-builder.ts';

describe('sandbox/apply/field-type-builder', () => {
  test('a component may refer to itself', () => {
    const ref = { $ref: '#/components/schemas/Node' };
    const components = { Node: { type: 'object', properties: { next: ref } } };
    const type = new FieldTypeBuilder(components).typeOf(ref);
    assert.equal(type.map?.fields.get('next')?.type, type);
  });

  test('the referring field overrides how a map merges; the component is unchanged', () => {
    const components = {
      Ref: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { name: {} } },
      Owner: {
        type: 'object',
        properties: {
          plain: { $ref: '#/Ref' },
          granular: { allOf: [{ $ref: '#/Ref' }], 'x-kubernetes-map-type': 'granular' },
        },
      },
    };
    const type = new FieldTypeBuilder(components).typeOf({ $ref: '#/Owner' });
    const isAtomic = (name: string) => type.map?.fields.get(name)?.type.map?.atomic;
    assert.deepEqual([isAtomic('plain'), isAtomic('granular')], [true, false]);
  });

  for (const [sentence, schema, kinds] of [
    ['without a type, all shapes are allowed', {}, ['scalar', 'list', 'map']],
    ['an object without properties takes any field', { type: 'object' }, ['map', 'map', 'map']],
    [
      'int-or-string allows all shapes, too; validation restricts it',
      { 'x-kubernetes-int-or-string': true },
      ['scalar', 'list', 'map'],
    ],
  ] as const) {
    test(sentence, () => {
      const type = new FieldTypeBuilder({}).typeOf(schema);
      assert.deepEqual(
        [1, [], {}].map((value) => shapeOf(type, value)),
        kinds,
      );
    });
  }

  test('unknown fields are rejected below a struct, unless it or an ancestor preserves them', () => {
    const inner = { type: 'object', properties: { a: { type: 'string' } } };
    const keeps = { 'x-kubernetes-preserve-unknown-fields': true };
    const othersOf = (schema: object) =>
      new FieldTypeBuilder({})
        .typeOf({ type: 'object', properties: { inner }, ...schema })
        .map?.fields.get('inner')?.type.map?.others;
    assert.equal(othersOf({}), undefined);
    assert.notEqual(othersOf(keeps), undefined);
  });
});
