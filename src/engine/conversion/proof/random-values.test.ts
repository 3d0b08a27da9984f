import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { schemaNode } from '../schema-node.ts';
import { mostItems, randomValue, seededFractions } from './random-values.ts';

describe('conversion/proof/random-values', () => {
  test('lists in lists do not grow with each level', () => {
    let schema: JsonObject = { type: 'string' };
    for (let level = 0; level < 100; level++) schema = { type: 'array', items: schema };
    for (let seed = 1; seed < 20; seed++) {
      const room = { left: mostItems };
      const fraction = seededFractions(seed);
      const value = randomValue(schemaNode(schema), {
        ...{ fraction, share: 1, isPartial: false, texts: [], room },
      });
      assert.ok(JSON.stringify(value).length < 100 * mostItems);
    }
  });

  for (const [what, key] of [
    ['an enum without values', { type: 'string', enum: [] }],
    ['null alone', { type: 'string', nullable: true, enum: [null] }],
  ] as const)
    test(`a list whose key is ${what} has no items`, () => {
      const schema = {
        ...{ type: 'array', 'x-kubernetes-list-type': 'map' },
        'x-kubernetes-list-map-keys': ['name'],
        items: { type: 'object', properties: { name: key } },
      };
      const fraction = seededFractions(1);
      const options = { fraction, share: 1, isPartial: false, texts: [] };
      for (let count = 0; count < 20; count++)
        assert.deepEqual(
          randomValue(schemaNode(schema), { ...options, room: { left: mostItems } }),
          [],
        );
    });
});
