import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compareVersions, isNewer, mayBeNewer } from './resource-version.ts';

describe('util/resource-version', () => {
  for (const [a, b, sign] of [
    ['2', '1', 1],
    ['10', '9', 1],
    ['99999999999999999999', '100000000000000000000', -1],
    ['7', '7', 0],
    ['abc', 'abc', 0],
  ] as const) {
    test(`"${a}" against "${b}" is ${sign}`, () => {
      assert.equal(Math.sign(compareVersions(a, b) ?? Number.NaN), sign);
      assert.equal(isNewer(a, b), sign > 0);
      assert.equal(mayBeNewer(a, b), sign > 0);
    });
  }

  for (const [a, b] of [
    ['abc', '5'],
    ['5', 'abc'],
    ['007', '5'],
    ['', '5'],
    ['-1', '5'],
  ] as const) {
    test(`"${a}" and "${b}" have no order: news, but not surely later`, () => {
      assert.equal(compareVersions(a, b), undefined);
      assert.equal(isNewer(a, b), false);
      assert.equal(mayBeNewer(a, b), true);
    });
  }
});
