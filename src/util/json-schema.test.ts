import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from './json.ts';
import { junctorsIn, partsIn, schemaIn, schemasIn } from './json-schema.ts';

const [a, b, c, d] = [
  { description: 'a' },
  { description: 'b' },
  { description: 'c' },
  { description: 'd' },
] as const;

describe('util/json-schema', () => {
  const schema: JsonObject = {
    properties: { first: a, constructor: b, text: 'no schema' },
    items: c,
    additionalProperties: d,
    anyOf: [null, a],
    allOf: [b],
    not: c,
  };

  test('the parts of a value are its fields, its items and its other fields, in this order', () => {
    assert.deepEqual(partsIn(schema), [
      { keyword: 'properties', key: 'first', schema: a },
      { keyword: 'properties', key: 'constructor', schema: b },
      { keyword: 'items', schema: c },
      { keyword: 'additionalProperties', schema: d },
    ]);
  });

  test('what constrains the same value keeps its index, and what is no schema is left out', () => {
    assert.deepEqual(junctorsIn(schema), [
      { keyword: 'allOf', key: 0, schema: b },
      { keyword: 'anyOf', key: 1, schema: a },
      { keyword: 'not', schema: c },
    ]);
  });

  for (const [what, odd] of [
    ['a list of items', { items: [a] }],
    ['a boolean', { additionalProperties: true }],
    ['a map in place of a list', { anyOf: { 0: a } }],
    ['a list in place of a map', { properties: [a] }],
    ['null', { not: null }],
    ['nothing', {}],
  ] as const)
    test(`${what} contains no schema`, () => {
      assert.deepEqual([...partsIn<object>(odd), ...junctorsIn<object>(odd)], []);
    });

  test('an inherited property is no keyword', () => {
    const inherits = Object.create({ items: a, properties: { b } }) as JsonObject;
    assert.deepEqual(partsIn(inherits), []);
  });

  test('a schema is the one that was written, by its identity', () => {
    assert.equal(schemaIn(schema, 'items'), c);
    assert.equal(schemasIn(schema, 'properties')[0]?.schema, a);
    assert.equal(schemaIn({}, 'not'), undefined);
  });
});
