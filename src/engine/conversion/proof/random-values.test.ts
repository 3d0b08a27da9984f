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
});
