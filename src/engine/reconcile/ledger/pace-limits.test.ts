import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { Ledger } from './ledger.ts';
import { endOfPass } from './pace.ts';

describe('reconcile/ledger/pace limits', () => {
  function create() {
    const clock = new FakeClock();
    const ledger = new Ledger();
    return {
      clock,
      reconcile: (generation: number, isExceeded: boolean) =>
        endOfPass(ledger, {
          generation,
          nowMs: clock.monotonicMs(),
          changed: undefined,
          hasWritten: false,
          hasWrittenStatus: false,
          isSuperseded: false,
          isLimitExceeded: isExceeded,
        }),
      restMs: (generation: number) =>
        ledger.pace?.pauseBefore(generation, clock.monotonicMs())?.afterMs ?? 0,
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

describe('reconcile/ledger/pace count', () => {
  test('a pass that writes nothing keeps the writes of the last minute, and nothing is kept after it', async () => {
    const clock = new FakeClock();
    const ledger = new Ledger();
    const reconcile = (hasWritten: boolean) =>
      endOfPass(ledger, {
        generation: 1,
        nowMs: clock.monotonicMs(),
        changed: undefined,
        hasWritten,
        hasWrittenStatus: false,
        isSuperseded: false,
        isLimitExceeded: false,
      });
    reconcile(false);
    assert.equal(ledger.pace, undefined);
    for (let round = 0; round < 19; round++) reconcile(true);
    reconcile(false);
    assert.equal(reconcile(true).pause?.reason, 'Unstable');
    reconcile(false);
    await clock.advance(60_001);
    reconcile(false);
    assert.equal(ledger.pace, undefined);
  });
});
