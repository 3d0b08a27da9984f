import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { publishedSchema } from './custom-openapi.ts';

/** The published schema of a field. */
function published(field: StructuralSchema) {
  const schema = { type: 'object', properties: { field } };
  return publishedSchema(schema).properties?.field;
}

describe('sandbox/kinds/custom-openapi', () => {
  test('apiVersion, kind and metadata replace those of the author', () => {
    const own = { type: 'object', properties: { kind: { type: 'string', pattern: '^A$' } } };
    const { kind, apiVersion, metadata } = publishedSchema(own).properties ?? {};
    assert.deepEqual(Object.keys(kind ?? {}), ['description', 'type']);
    assert.match(JSON.stringify(apiVersion), /^\{"description":"APIVersion defines /);
    assert.match(JSON.stringify(metadata), /"\$ref":"#\/components\/schemas\/.*\.ObjectMeta"/);
  });

  test('integer-or-string gets both types, unless the author lists them', () => {
    const both = [{ type: 'integer' }, { type: 'string' }];
    const port: StructuralSchema = { 'x-kubernetes-int-or-string': true };
    assert.deepEqual(published(port), { ...port, anyOf: both });
    const reported = { ...port, allOf: [{ anyOf: both }, { maximum: 3 }] };
    assert.equal(published(reported), reported);
  });

  test('an embedded resource gets apiVersion, kind and metadata, with the first two required', () => {
    const embedded: StructuralSchema = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      required: ['kind', 'spec'],
    };
    const found = published(embedded);
    assert.deepEqual(found?.required, ['kind', 'spec', 'apiVersion']);
    assert.match(JSON.stringify(found?.properties?.kind), /"kind is a string value/);
  });

  test('everything else is published unchanged', () => {
    const field: StructuralSchema = {
      type: 'array',
      items: { type: 'object', additionalProperties: { type: 'string' }, not: { required: ['x'] } },
    };
    assert.equal(published(field), field);
  });
});
