import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '../../util/gvk.ts';
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

  test('the schema of the CRD is not changed', () => {
    const schema = Object.freeze({ properties: Object.freeze({}) });
    schemaOfCustomResource(schema, gvk);
    assert.deepEqual(schema, { properties: {} });
  });
});
