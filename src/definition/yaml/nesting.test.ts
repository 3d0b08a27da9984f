import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isNestedTooDeep } from './nesting.ts';

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { a: value } : [value, 1];
  return value;
}

describe('definition/yaml/nesting', () => {
  for (const [depth, isTooDeep] of [
    [1, false],
    [500, false],
    [501, true],
    [100_000, true],
  ] as const)
    test(`${depth} lists and maps inside each other are ${isTooDeep ? 'too many' : 'well'}`, () => {
      assert.equal(isNestedTooDeep({ few: {}, many: nested(depth - 1) }), isTooDeep);
    });

  test('what is wide is not deep', () => {
    assert.equal(isNestedTooDeep(Array.from({ length: 10_000 }, () => ({ a: null }))), false);
  });
});
