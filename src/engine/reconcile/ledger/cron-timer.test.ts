import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { CronTimer } from './cron-timer.ts';

/** A started timer, and the times at which it was due, in seconds. */
function started(expression: string | undefined) {
  const clock = new FakeClock();
  const startMs = clock.nowMs();
  const due: number[] = [];
  const timer = new CronTimer({
    cron: expression === undefined ? undefined : { expression, timeZone: 'UTC' },
    clock,
    onDue: () => void due.push((clock.nowMs() - startMs) / 1_000),
  });
  timer.start();
  return { timer, clock, startMs, due };
}

describe('reconcile/ledger/cron-timer', () => {
  test('without a schedule nothing is ever due', async () => {
    const { clock, due } = started(undefined);
    await clock.advance(86_400_000);
    assert.deepEqual(due, []);
    assert.equal(clock.pending, 0);
  });

  test('it is due at each time of the schedule', async () => {
    const { clock, due, startMs } = started('*/20 * * * * *');
    const firstS = (20_000 - (startMs % 20_000)) / 1_000;
    await clock.advance(45_000);
    assert.deepEqual(
      due,
      [firstS, firstS + 20, firstS + 40].filter((atS) => atS <= 45),
    );
  });

  test('times that the wall clock jumped over are one', async () => {
    const { clock, due } = started('0 * * * *');
    clock.setWall(clock.nowMs() + 5 * 3_600_000);
    await clock.advance(60_000);
    assert.equal(due.length, 1);
  });

  test('after the stop nothing is due', async () => {
    const { timer, clock, due } = started('* * * * * *');
    timer.stop();
    await clock.advance(10_000);
    assert.deepEqual(due, []);
    assert.equal(clock.pending, 0);
  });
});
