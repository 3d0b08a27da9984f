import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resolveLeaseTimes } from './lease.ts';

describe('runtime/leadership lease settings', () => {
  test('are those of client-go where nothing is said', () => {
    assert.deepEqual(resolveLeaseTimes(), {
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
    });
  });

  for (const [times, message] of [
    [
      { leaseDurationMs: 10_000 },
      'Expected a lease duration above the renew deadline "10s", found "10s"',
    ],
    [
      { renewDeadlineMs: 2_400 },
      'Expected a renew deadline above 1.2 times the retry period "2s", found "2.4s"',
    ],
    [{ retryPeriodMs: 0 }, 'Expected a retry period above 0, found "0s"'],
  ] as const) {
    test(`reject ${JSON.stringify(times)}`, () => {
      assert.throws(() => resolveLeaseTimes(times), { code: 'invalid-times', message });
    });
  }
});
