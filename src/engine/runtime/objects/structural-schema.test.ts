import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { createDefinitionCrd, structuralSchema } from './definition-crd.ts';

const open = 'x-kubernetes-preserve-unknown-fields';
const anything = { nullable: true, [open]: true };

const table: readonly (readonly [string, JsonObject, JsonObject])[] = [
  [
    'a text with a pattern, without its title and default',
    { type: 'string', description: 'D', title: 'a duration', pattern: '^a$', default: 'a' },
    { type: 'string', description: 'D', pattern: '^a$' },
  ],
  ['one word', { const: 'a' }, { type: 'string', enum: ['a'] }],
  ['a flag that can only be false', { enum: [false] }, { type: 'boolean', enum: [false] }],
  [
    'two types: anything',
    { type: ['boolean', 'string'], description: 'D' },
    { description: 'D', ...anything },
  ],
  ['no type: anything', {}, anything],
  ['a map whose fields are not listed', { type: 'object' }, { type: 'object', [open]: true }],
  [
    'a map of free names',
    { type: 'object', additionalProperties: { type: 'string' } },
    { type: 'object', additionalProperties: { type: 'string' } },
  ],
  [
    'a map with these fields and no others',
    {
      type: 'object',
      properties: { a: { type: 'integer', minimum: 0 } },
      required: ['a'],
      additionalProperties: false,
    },
    { type: 'object', properties: { a: { type: 'integer', minimum: 0 } }, required: ['a'] },
  ],
  [
    'a list',
    { type: 'array', items: { type: ['object', 'string'] }, minItems: 1 },
    { type: 'array', items: anything, minItems: 1 },
  ],
  [
    'a schema that refers to itself',
    { type: 'object', allOf: [{ $ref: '#/$defs/schemaNode' }] },
    { type: 'object', [open]: true },
  ],
];

/** All nodes of a schema. */
function* nodesOf(schema: JsonObject): Iterable<JsonObject> {
  yield schema;
  const { properties = {}, items, additionalProperties } = schema;
  const below: readonly (Json | undefined)[] = [
    ...(isJsonObject(properties) ? Object.values(properties) : []),
    items,
    additionalProperties,
  ];
  for (const node of below) if (isJsonObject(node)) yield* nodesOf(node);
}

describe('runtime/objects/structural-schema', () => {
  for (const [what, schema, expected] of table) {
    test(what, () => assert.deepEqual(structuralSchema(schema), expected));
  }

  test('the CRD of definitions has a type or is open at every place, and no default anywhere', () => {
    const { versions } = createDefinitionCrd().spec as {
      versions: readonly { schema: { openAPIV3Schema: JsonObject } }[];
    };
    const nodes = versions.flatMap(({ schema }) => [...nodesOf(schema.openAPIV3Schema)]);
    assert.ok(nodes.length > 100);
    for (const node of nodes) {
      assert.ok(node.type !== undefined || node[open] === true, JSON.stringify(node));
      assert.equal(node.default, undefined);
      assert.ok(node.properties === undefined || node.additionalProperties === undefined);
    }
  });
});
