import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  parseQuantity,
  quantityBillionths,
  quantityNumber,
  roundedToThousandths,
} from './quantity.ts';

function billionthsOf(value: unknown): bigint | undefined {
  const quantity = parseQuantity(value);
  return quantity && quantityBillionths(quantity);
}

function numberOf(value: unknown): number | undefined {
  const quantity = parseQuantity(value);
  return quantity && quantityNumber(quantity);
}

describe('util/quantity', () => {
  test('an integer of 2^53 or more is exact', () => {
    assert.equal(billionthsOf(2n ** 53n + 1n), 9_007_199_254_740_993_000_000_000n);
  });

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
      assert.equal(billionthsOf(text), billionths);
    });
  }

  for (const value of ['', 'm', '.', '1 Gi', '1Gib', 'x', '1e', '0x1', true, null, {}, ['1']]) {
    test(`${JSON.stringify(value)} is no quantity`, () => {
      assert.equal(parseQuantity(value), undefined);
    });
  }

  for (const [text, number] of [
    ['500m', 0.5],
    ['100m', 0.1],
    ['1n', 1e-9],
    ['1Gi', 1_073_741_824],
    ['1.5k', 1500],
    ['2e3', 2000],
    ['-3', -3],
    ['.5Ki', 512],
    ['1e300', 1e300],
    ['8E', 8e18],
    [4, 4],
  ] as const) {
    test(`${JSON.stringify(text)} is the number ${number}`, () => {
      assert.equal(numberOf(text), number);
    });
  }

  test('what is too large has no value', () => {
    assert.equal(billionthsOf('1e99'), undefined);
    assert.equal(numberOf('1e999'), undefined);
    assert.equal(numberOf(`1e${'9'.repeat(400)}`), undefined);
  });

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
