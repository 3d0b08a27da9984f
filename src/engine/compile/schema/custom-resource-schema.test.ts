import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { schemaOfCustomResource } from './custom-resource-schema.ts';
import type { SchemaType, StructType } from './schema-type.ts';

const gvk = gvkOf('apps.example.com/v1', 'PodSet');

function structOf(type: SchemaType | undefined): StructType {
  assert.ok(type?.kind === 'struct');
  return type;
}

function field(type: StructType, name: string): SchemaType | undefined {
  return type.fields.get(name)?.type;
}

describe('compile/schema/custom-resource-schema', () => {
  test('a custom resource is named and completed as the server publishes it', () => {
    const type = structOf(
      schemaOfCustomResource(
        { type: 'object', properties: { spec: { type: 'object', properties: {} } } },
        gvk,
      ),
    );
    assert.equal(type.name, 'com.example.apps.v1.PodSet');
    assert.equal(type.builtIn, false);
    assert.deepEqual([...type.fields.keys()].sort(), ['apiVersion', 'kind', 'metadata', 'spec']);
  });

  test("metadata has the server's schema, independent of the CRD", () => {
    const type = structOf(
      schemaOfCustomResource({ properties: { metadata: { type: 'object' } } }, gvk),
    );
    const metadata = structOf(field(type, 'metadata'));
    assert.equal(metadata.builtIn, true);
    assert.equal(field(metadata, 'labels')?.kind, 'map');
    const finalizers = field(metadata, 'finalizers');
    assert.equal(finalizers?.kind === 'list' && finalizers.list, 'set');
  });

  test('an embedded resource gets its metadata, wherever it stands', () => {
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true };
    const type = structOf(
      schemaOfCustomResource(
        {
          properties: {
            list: { type: 'array', items: embedded },
            map: { type: 'object', additionalProperties: embedded },
          },
        },
        gvk,
      ),
    );
    for (const name of ['list', 'map']) {
      const container = field(type, name);
      assert.ok(container?.kind === 'list' || container?.kind === 'map');
      const item = structOf(container.item);
      assert.equal(structOf(field(item, 'metadata')).builtIn, true);
      assert.deepEqual(item.required, ['kind', 'apiVersion']);
    }
  });

  for (const value of [null, 'text', 7, true, {}, [], [null], { a: null }] as const) {
    test(`keywords with the value ${JSON.stringify(value)} are left out if they cannot have it`, () => {
      const keywords = ['properties', 'items', 'required', 'enum', 'allOf', 'additionalProperties'];
      for (const keyword of keywords) {
        const schema = {
          type: 'object',
          properties: { spec: { type: 'object', [keyword]: value } },
        };
        const spec = field(structOf(schemaOfCustomResource(schema, gvk)), 'spec');
        assert.notEqual(spec, undefined, keyword);
        if (spec?.kind === 'struct') assert.ok(Array.isArray(spec.required), keyword);
        if (spec?.kind === 'scalar') assert.ok(spec.enum === undefined || Array.isArray(spec.enum));
      }
    });
  }

  test('what is no schema accepts everything', () => {
    const type = structOf(
      schemaOfCustomResource({ type: 'object', properties: { spec: null as never } }, gvk),
    );
    assert.equal(field(type, 'spec')?.kind, 'any');
  });

  test('the schema of the CRD is not changed', () => {
    const schema = Object.freeze({ properties: Object.freeze({}) });
    schemaOfCustomResource(schema, gvk);
    assert.deepEqual(schema, { properties: {} });
  });
});
