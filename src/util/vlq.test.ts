import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeVlq, encodeVlq } from './vlq.ts';

describe('util/vlq', () => {
  test('is the format of source maps', () => {
    assert.equal(encodeVlq([0, 1, -1, 15, 16, -16, 1_000]), 'ACDegBhBw+B');
  });

  test('gives back what was encoded', () => {
    const numbers = [0, 1, -1, 31, 32, -32, 1_023, 1_024, -65_536, 16_000_000, -16_000_000];
    assert.deepEqual(decodeVlq(encodeVlq(numbers)), numbers);
    assert.deepEqual(decodeVlq(''), []);
  });

  test('what is no such text gives nothing', () => {
    for (const text of ['g', 'A*', 'A B', 'gggggggggA', 'é'])
      assert.equal(decodeVlq(text), undefined);
  });
});
