import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalJson } from './canonical-json.ts';

describe('util/canonical-json', () => {
  for (const [value, text] of [
    [{ b: 1, a: { d: [], c: {} } }, '{"a":{"c":{},"d":[]},"b":1}'],
    [{ a: undefined, b: null }, '{"b":null}'],
    [[undefined, 2, 1], '[null,2,1]'],
    [{ Z: 1, a: 2, '10': 3, '9': 4 }, '{"10":3,"9":4,"Z":1,"a":2}'],
    [{ b: [{ d: 1, c: { '1': 2, '0': 3 } }], a: 4 }, '{"a":4,"b":[{"c":{"0":3,"1":2},"d":1}]}'],
    [
      { b: 1, a: JSON.parse('{"__proto__":{"c":1},"Z":2}') },
      '{"a":{"Z":2,"__proto__":{"c":1}},"b":1}',
    ],
    [[{ a: [{ b: 1, a: 2 }] }, { a: [] }], '[{"a":[{"a":2,"b":1}]},{"a":[]}]'],
    ['"\n', '"\\"\\n"'],
    [-0, '0'],
    [undefined, 'null'],
    [true, 'true'],
  ] as const) {
    test(`gives ${text}`, () => assert.equal(canonicalJson(value), text));
  }
});
