import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isNestedTooDeep } from './text-limits.ts';

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
    test(`${depth} nested lists and maps are ${isTooDeep ? 'rejected' : 'accepted'}`, () => {
      assert.equal(isNestedTooDeep({ few: {}, many: nested(depth - 1) }), isTooDeep);
    });

  test('wide values are not deep', () => {
    assert.equal(isNestedTooDeep(Array.from({ length: 10_000 }, () => ({ a: null }))), false);
  });
});
