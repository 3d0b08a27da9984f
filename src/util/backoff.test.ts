import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { backoffMs } from './backoff.ts';

const options = { baseDelayMs: 5, maxDelayMs: 1_000_000 };

describe('util/backoff', () => {
  for (const [failures, ms] of [
    [0, 5],
    [1, 10],
    [2, 20],
    [17, 655_360],
    [18, 1_000_000],
    [62, 1_000_000],
    [10_000, 1_000_000],
    [Number.MAX_SAFE_INTEGER, 1_000_000],
  ] as const) {
    test(`after ${failures} failures the delay is ${ms} ms`, () => {
      assert.equal(backoffMs(failures, options), ms);
    });
  }
});
