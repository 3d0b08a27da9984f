import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isEmptyCollection, isZero } from './zero-value.ts';

describe('util/zero-value', () => {
  for (const value of ['', 0, -0, false, [], {}])
    test(`${JSON.stringify(value)} is a zero value`, () => assert.equal(isZero(value), true));

  for (const value of ['0', 1, true, [0], { a: '' }, null, undefined, 0n, Number.NaN])
    test(`${typeof value} ${String(value)} is none`, () => assert.equal(isZero(value), false));

  test('only lists and maps are collections', () => {
    assert.deepEqual([[], {}, '', null, undefined, [1]].map(isEmptyCollection), [
      ...[true, true, false, false, false, false],
    ]);
  });
});
