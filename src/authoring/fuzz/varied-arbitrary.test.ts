import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Json } from '#util/json.ts';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import { fuzzTarget, resourceOf } from './fuzz-target.ts';
import type { Content } from './history.ts';
import { variedArbitrary } from './varied-arbitrary.ts';

function samplesOf(
  samples: readonly Content[],
  values: Readonly<Record<string, readonly Json[]>>,
): ReadonlySet<string> {
  const found = fc.sample(variedArbitrary(samples, values), { numRuns: 200, seed: 1 });
  return new Set(found.map((content) => JSON.stringify(content)));
}

const { definitions } = definitionParser.parse(
  `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: copy }
spec:
  for: { apiVersion: v1, kind: ConfigMap }
  children: []
`,
  'copy.yaml',
);
const [located] = definitions;
assert.ok(located);

describe('fuzz/contents of a kind of others', () => {
  test('are the samples, and rarely nothing', () => {
    const samples = [{ data: { a: '1' } }, { data: { a: '2' } }];
    const arbitrary = variedArbitrary(samples, {});
    const found = fc.sample(arbitrary, { numRuns: 200, seed: 1 });
    assert.deepEqual(new Set(found.map((each) => JSON.stringify(each))).size, 3);
    assert.ok(found.filter((each) => Object.keys(each).length === 0).length < 50);
    assert.deepEqual(samplesOf([], {}), new Set(['{}']));
  });

  test('may have labels and annotations, but not the name', () => {
    const target = fuzzTarget(located, []);
    const content = { metadata: { name: 'other', annotations: { a: 'b' } }, data: {} };
    assert.deepEqual(resourceOf(target, 'fuzz', content).metadata, {
      name: 'fuzz',
      annotations: { a: 'b' },
    });
  });

  test('have the given values in every field that they name', () => {
    const sample = { spec: { size: 1, items: [{ name: 'a', port: 1 }] } };
    const values = { '/spec/size': [2, 3], '/spec/items/*/port': [80], '/spec/none/*/port': [7] };
    const found = samplesOf([sample], values);
    for (const size of [2, 3]) {
      const expected = { spec: { size, items: [{ name: 'a', port: 80 }] } };
      assert.ok(found.has(JSON.stringify(expected)), [...found].join());
      assert.ok(found.has(JSON.stringify({ spec: { size } })));
    }
    assert.equal(found.size, 4);
  });
});
