import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseDurationMs } from './duration.ts';

describe('util/duration', () => {
  for (const [text, ms] of [
    ['0', 0],
    ['0s', 0],
    ['5ms', 5],
    ['30s', 30_000],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['1m5ms', 60_005],
  ] as const) {
    test(`"${text}" is ${ms} ms`, () => assert.equal(parseDurationMs(text), ms));
  }

  for (const text of ['', '5', '-1s', '1 s', 's', '1.s', '.5s', '1w', '1h 30m', '1S', '1s\n']) {
    test(`${JSON.stringify(text)} is no duration`, () => {
      assert.equal(parseDurationMs(text), undefined);
    });
  }
});
