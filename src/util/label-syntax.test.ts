import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isLabelKey, isLabelValue } from './label-selector.ts';

describe('util/label-syntax', () => {
  for (const [key, expected] of [
    ['app', true],
    ['App.kubernetes_io-x', true],
    ['app.kubernetes.io/name', true],
    ['x'.repeat(63), true],
    ['x'.repeat(64), false],
    [`${'x'.repeat(253)}/a`, true],
    [`${'x'.repeat(254)}/a`, false],
    ['', false],
    ['/a', false],
    ['a/', false],
    ['a/b/c', false],
    ['Upper.case/a', false],
    ['-a', false],
    ['a-', false],
    ['a b', false],
  ] as const) {
    test(`"${key.slice(0, 30)}" (${key.length}) is ${expected ? 'a' : 'no'} key`, () => {
      assert.equal(isLabelKey(key), expected);
    });
  }

  for (const [value, expected] of [
    ['', true],
    ['1.2_3-Z', true],
    ['x'.repeat(63), true],
    ['x'.repeat(64), false],
    ['a/b', false],
    ['.a', false],
    ['a_', false],
    ['a\n', false],
    ['ä', false],
  ] as const) {
    test(`${JSON.stringify(value.slice(0, 30))} (${value.length}) is ${expected ? 'a' : 'no'} value`, () => {
      assert.equal(isLabelValue(value), expected);
    });
  }
});
