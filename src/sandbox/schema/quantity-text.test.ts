import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalQuantity } from './quantity-text.ts';

describe('sandbox/schema/quantity-text', () => {
  for (const [value, text] of [
    ['1000m', '1'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ti', '512Gi'],
    ['0.5Ki', '512'],
    [0.25, '250m'],
    [512e6, '512M'],
    [30.5, '30500m'],
    ['100', '100'],
    ['1e3', '1e3'],
    ['0', '0'],
    ['-1000m', '-1'],
    ['x', undefined],
  ] as const) {
    test(`${value} is written ${text}`, () => assert.equal(canonicalQuantity(value), text));
  }
});
