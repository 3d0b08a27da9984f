import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalJson } from './canonical-json.ts';

describe('util/canonical-json', () => {
  for (const [value, text] of [
    [{ b: 1, a: { d: [], c: {} } }, '{"a":{"c":{},"d":[]},"b":1}'],
    [{ a: undefined, b: null }, '{"b":null}'],
    [[undefined, 2, 1], '[null,2,1]'],
    [{ Z: 1, a: 2, '10': 3, '9': 4 }, '{"10":3,"9":4,"Z":1,"a":2}'],
    ['"\n', '"\\"\\n"'],
    [-0, '0'],
    [undefined, 'null'],
    [true, 'true'],
  ] as const) {
    test(`gives ${text}`, () => assert.equal(canonicalJson(value), text));
  }
});
