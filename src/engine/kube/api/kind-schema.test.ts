import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { extractKindSchema } from './openapi.ts';

const gvk = { group: 'x.example', version: 'v1', kind: 'Foo' };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

describe('kube/kind-schema', () => {
  test('takes what the kind reaches, in circles too, and nothing else', () => {
    const schemas = {
      'x.Foo': {
        type: 'object',
        'x-kubernetes-group-version-kind': [gvk],
        properties: { spec: { allOf: [ref('x.Spec')] } },
      },
      'x.Spec': {
        type: 'object',
        properties: { next: ref('x.Spec'), list: { items: ref('x.Item') } },
      },
      'x.Item': { type: 'object', additionalProperties: ref('x.Value') },
      'x.Value': { type: 'string' },
      'x.Other': { type: 'object', properties: { foo: ref('x.Foo') } },
    };
    const found = extractKindSchema({ components: { schemas } }, gvk);
    assert.equal(found?.root, 'x.Foo');
    assert.deepEqual(Object.keys(found?.components ?? {}).sort(), [
      'x.Foo',
      'x.Item',
      'x.Spec',
      'x.Value',
    ]);
  });

  test('drops descriptions, but neither fields of that name nor values', () => {
    const schema = {
      description: 'goes',
      'x-kubernetes-group-version-kind': [gvk],
      properties: {
        description: { type: 'string', description: 'goes' },
        default: { type: 'object', default: { description: 'stays' } },
      },
      oneOf: [{ description: 'goes', required: ['description'] }],
    };
    const found = extractKindSchema({ components: { schemas: { Foo: schema } } }, gvk);
    assert.deepEqual(found?.components.Foo, {
      'x-kubernetes-group-version-kind': [gvk],
      properties: {
        description: { type: 'string' },
        default: { type: 'object', default: { description: 'stays' } },
      },
      oneOf: [{ required: ['description'] }],
    });
  });

  test('is undefined for another version, for a type of all groups, for no document', () => {
    const schemas = {
      Foo: { 'x-kubernetes-group-version-kind': [gvk] },
      DeleteOptions: {
        'x-kubernetes-group-version-kind': [
          { group: '', version: 'v1', kind: 'DeleteOptions' },
          { group: 'apps', version: 'v1', kind: 'DeleteOptions' },
        ],
      },
    };
    const document = { components: { schemas } };
    assert.equal(extractKindSchema(document, { ...gvk, version: 'v2' }), undefined);
    assert.equal(extractKindSchema(document, gvkOf('v1', 'DeleteOptions')), undefined);
    assert.equal(extractKindSchema(undefined, gvk), undefined);
  });
});
