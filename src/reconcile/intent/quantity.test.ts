import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { quantity, roundedToThousandths } from './quantity.ts';

describe('reconcile/intent/quantity', () => {
  for (const [text, billionths] of [
    ['0', 0n],
    ['1', 1_000_000_000n],
    ['010', 10_000_000_000n],
    ['1000m', 1_000_000_000n],
    ['100u', 100_000n],
    ['1n', 1n],
    ['0.1n', 1n],
    ['1.0000000001', 1_000_000_001n],
    ['.5', 500_000_000n],
    ['5.', 5_000_000_000n],
    ['1e3', 1_000_000_000_000n],
    ['1E-3', 1_000_000n],
    ['1E', 10n ** 27n],
    ['1.5Gi', 1536n * 1024n * 1024n * 10n ** 9n],
    ['0.5Ti', 512n * 1024n ** 3n * 10n ** 9n],
    ['-2k', -2_000_000_000_000n],
    ['+1', 1_000_000_000n],
    [30.5, 30_500_000_000n],
    [512e6, 512_000_000n * 10n ** 9n],
  ] as const) {
    test(`${JSON.stringify(text)} is ${billionths} billionths`, () => {
      assert.equal(quantity(text), billionths);
    });
  }

  for (const value of [
    '',
    'm',
    '.',
    '1 Gi',
    '1Gib',
    'x',
    '1e',
    '1e99',
    '0x1',
    true,
    null,
    {},
    ['1'],
  ]) {
    test(`${JSON.stringify(value)} is no quantity`, () => {
      assert.equal(quantity(value), undefined);
    });
  }

  for (const [billionths, rounded] of [
    [1n, 1_000_000n],
    [1_000_000n, 1_000_000n],
    [1_000_001n, 2_000_000n],
    [-1n, -1_000_000n],
    [0n, 0n],
  ] as const) {
    test(`${billionths} billionths are kept as ${rounded} in a resource list`, () => {
      assert.equal(roundedToThousandths(billionths), rounded);
    });
  }
});
