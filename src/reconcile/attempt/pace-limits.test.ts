import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { ReconcilePace } from './pace.ts';

describe('reconcile/attempt/pace limits', () => {
  function create() {
    const clock = new FakeClock();
    const pace = new ReconcilePace();
    return {
      clock,
      reconcile: (generation: number, isExceeded: boolean) =>
        pace.end({
          generation,
          nowMs: clock.monotonicMs(),
          changed: undefined,
          hasWritten: false,
          hasWrittenStatus: false,
          isSuperseded: false,
          isLimitExceeded: isExceeded,
        }),
      restMs: (generation: number) =>
        pace.pauseBefore(generation, clock.monotonicMs())?.afterMs ?? 0,
    };
  }

  test('within the limits there is no rest', () => {
    const { reconcile, restMs } = create();
    reconcile(1, false);
    assert.equal(restMs(1), 0);
  });

  test('beyond them the rest grows from 5 s to 5 min, until it is within them again', () => {
    const { reconcile, restMs } = create();
    const rests: number[] = [];
    for (let round = 0; round < 8; round++) {
      reconcile(1, true);
      rests.push(restMs(1) / 1_000);
    }
    assert.deepEqual(rests, [5, 10, 20, 40, 80, 160, 300, 300]);
    reconcile(1, false);
    assert.equal(restMs(1), 0);
  });

  test('an edit makes the rest short, and does not end it', async () => {
    const { clock, reconcile, restMs } = create();
    for (let round = 0; round < 3; round++) reconcile(1, true);
    await clock.advance(1_000);
    assert.deepEqual([restMs(1), restMs(2)], [19_000, 4_000]);
    reconcile(2, true);
    assert.equal(restMs(2), 5_000);
  });
});
