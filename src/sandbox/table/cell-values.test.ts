import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { humanDuration } from './cell-values.ts';

describe('sandbox/table/human-duration', () => {
  for (const [seconds, text] of [
    [-5, '<invalid>'],
    [-1, '0s'],
    [0.4, '0s'],
    [119, '119s'],
    [120, '2m'],
    [125, '2m5s'],
    [600, '10m'],
    [3 * 3600 - 1, '179m'],
    [3 * 3600, '3h'],
    [3 * 3600 + 61, '3h1m'],
    [8 * 3600 + 61, '8h'],
    [47 * 3600, '47h'],
    [48 * 3600, '2d'],
    [50 * 3600, '2d2h'],
    [8 * 86_400 + 7200, '8d'],
    [730 * 86_400, '2y'],
    [731 * 86_400, '2y1d'],
    [9 * 365 * 86_400 + 86_400, '9y'],
  ] as const) {
    test(`${seconds} s is ${text}`, () => {
      assert.equal(humanDuration(seconds * 1000), text);
    });
  }
});
