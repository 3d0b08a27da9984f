import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type JsonObject, jsonLength } from '#util/json.ts';
import type { Converter } from '../converter.ts';
import { proveRoundTrips } from './prove-round-trips.ts';

/** Some lists in each item, so many levels deep. */
function lists(levels: number): JsonObject {
  if (levels === 0) return { type: 'object', properties: { name: { type: 'string' } } };
  const list = { type: 'array', items: lists(levels - 1) };
  return { type: 'object', properties: { a: list, b: list, c: list, d: list } };
}

/** Converts nothing, and counts what it is asked for. `isWrong`: each conversion loses a field. */
function counting(isWrong: boolean) {
  let characters = 0;
  const converter: Converter = {
    convert(object, version) {
      characters += jsonLength(object);
      const { spec: _, ...rest } = object;
      const converted = isWrong ? rest : object;
      return { object: { ...converted, apiVersion: `example.com/${version}` } };
    },
  };
  return { converter, characters: () => characters };
}

describe('conversion/proof/prove-round-trips', () => {
  for (const isWrong of [false, true])
    test(`a schema of lists in lists ends${isWrong ? ', with its failure' : ''}`, () => {
      const schema = { type: 'object', properties: { spec: lists(6) } };
      const { converter, characters } = counting(isWrong);
      const { checked, failures } = proveRoundTrips({
        rules: { hub: 'v1', versions: [{ version: 'v2', fields: [], drop: [] }] },
        schemas: new Map([
          ['v1', schema],
          ['v2', schema],
        ]),
        yaml: { parse: JSON.parse, print: JSON.stringify },
        count: 100_000,
        converter,
      });
      assert.ok(checked > 10 && checked < 100_000, String(checked));
      assert.deepEqual(
        failures.map(({ kind, version }) => `${version} ${kind}`).toSorted(),
        isWrong ? ['v1 lost', 'v2 lost'] : [],
      );
      assert.ok(characters() < 100_000_000, String(characters()));
    });
});
