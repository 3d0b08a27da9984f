import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { pruneObject } from '#sandbox/schema/structural-schema.ts';
import type { JsonObject } from '#util/json.ts';
import {
  asJsonSchema,
  changed,
  randomObject,
  randomValue,
} from '../../../../test/support/crd/random-schema.ts';
import { SeededRandom } from '../../../../test/support/model/seeded-random.ts';
import { breakingChanges } from './compare-crds.ts';

const runs = 600;

function crdWith(spec: JsonObject): JsonObject {
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  return { versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }] };
}

function isSafe(before: JsonObject, after: JsonObject): boolean {
  const pair = { installed: crdWith(before), desired: crdWith(after) };
  return breakingChanges({ ...pair, storedVersions: ['v1'], isOurs: true }).length === 0;
}

describe('check/crd-change: safe changes', () => {
  test('what the old schema has accepted the new one accepts and keeps, whenever the change is called safe', () => {
    const counts = { safe: 0, breaking: 0, values: 0 };
    for (let seed = 1; seed <= runs; seed++) {
      const random = new SeededRandom(seed);
      const before = randomObject(random);
      const after = changed(random, before, 1 + random.below(3));
      if (!isSafe(before, after)) {
        counts.breaking += 1;
        continue;
      }
      counts.safe += 1;
      const ajv = new Ajv({ strict: false });
      const wasValid = ajv.compile(asJsonSchema(before));
      const isValid = ajv.compile(asJsonSchema(after));
      for (let draw = 0; draw < 60; draw++) {
        const value = randomValue(random, before);
        if (!wasValid(value)) continue;
        counts.values += 1;
        const about = `seed ${seed}: ${JSON.stringify({ before, after, value })}`;
        assert.ok(isValid(value), about);
        const schema = { type: 'object', properties: { spec: after } };
        assert.deepEqual(pruneObject(schema as never, { spec: value }).unknownFields, [], about);
      }
    }
    // Else it would show nothing.
    assert.ok(counts.safe > runs / 10 && counts.breaking > runs / 10, JSON.stringify(counts));
    assert.ok(counts.values > runs, JSON.stringify(counts));
  });

  test('a schema is a safe change of itself', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const schema = randomObject(new SeededRandom(seed), 3);
      assert.ok(isSafe(schema, structuredClone(schema)), JSON.stringify(schema));
    }
  });
});
