import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { ScheduleDefinition } from '../../definition/index.ts';
import type { Random } from '../../util/random.ts';
import { Timetable } from './timetable.ts';

/** A timetable whose wakes are noted with the time since its start, in seconds. */
function timetableOf(
  schedule: ScheduleDefinition | undefined,
  {
    keys = ['a', 'b'],
    fraction = 0,
  }: { readonly keys?: string[]; readonly fraction?: number } = {},
) {
  const clock = new FakeClock();
  const woken: string[] = [];
  const startMs = clock.nowMs();
  const random: Random = { fraction: () => fraction, text: () => '' };
  const timetable = new Timetable({
    schedule,
    clock,
    random,
    keys: () => keys,
    enqueue: (key, priority) =>
      void woken.push(`${key} ${priority} ${(clock.nowMs() - startMs) / 1_000}`),
  });
  timetable.start();
  return { timetable, clock, woken, startMs };
}

describe('reconcile/watch/timetable', () => {
  test('without a schedule nothing is ever enqueued', async () => {
    const { timetable, clock, woken } = timetableOf(undefined);
    timetable.began('a');
    await clock.advance(86_400_000);
    assert.deepEqual(woken, []);
  });

  for (const [fraction, seconds] of [
    [0, 30],
    [0.5, 28.5],
    [1, 27],
  ] as const) {
    test(`every 30s comes ${seconds} s after a pass has begun when chance gives ${fraction}`, async () => {
      const { timetable, clock, woken } = timetableOf({ everyMs: 30_000 }, { fraction });
      timetable.began('a');
      await clock.advance(60_000);
      assert.deepEqual(woken, [`a low ${seconds}`]);
    });
  }

  test('a pass for another reason puts the next one off', async () => {
    const { timetable, clock, woken } = timetableOf({ everyMs: 30_000 });
    timetable.began('a');
    await clock.advance(20_000);
    timetable.began('a');
    await clock.advance(29_000);
    assert.deepEqual(woken, []);
    await clock.advance(1_000);
    assert.deepEqual(woken, ['a low 50']);
  });

  test('a resource that has gone is not enqueued', async () => {
    const { timetable, clock, woken } = timetableOf({ everyMs: 30_000 });
    timetable.began('a');
    timetable.runAgain('a', 5_000);
    timetable.forget('a');
    await clock.advance(60_000);
    assert.deepEqual(woken, []);
  });

  test('requeueAfter runs it once, and the last word counts', async () => {
    const { timetable, clock, woken } = timetableOf(undefined);
    timetable.runAgain('a', 10_000);
    timetable.runAgain('a', 5_000);
    timetable.runAgain('b', 5_000);
    timetable.runAgain('b', undefined);
    await clock.advance(60_000);
    assert.deepEqual(woken, ['a normal 5']);
  });

  test('cron wakes all resources at each of its times', async () => {
    const cron = { expression: '*/20 * * * * *', timeZone: 'UTC' };
    const { clock, woken, startMs } = timetableOf({ cron });
    const firstS = (20_000 - (startMs % 20_000)) / 1_000;
    await clock.advance(45_000);
    const expected = [firstS, firstS + 20, firstS + 40]
      .filter((atS) => atS <= 45)
      .flatMap((atS) => [`a low ${atS}`, `b low ${atS}`]);
    assert.deepEqual(woken, expected);
  });

  test('times that the clock on the wall jumped over are one run', async () => {
    const cron = { expression: '0 * * * *', timeZone: 'UTC' };
    const { clock, woken } = timetableOf({ cron }, { keys: ['a'] });
    clock.setWall(clock.nowMs() + 5 * 3_600_000);
    await clock.advance(60_000);
    assert.equal(woken.length, 1);
  });

  test('after the stop nothing is enqueued any more', async () => {
    const cron = { expression: '* * * * * *', timeZone: 'UTC' };
    const { timetable, clock, woken } = timetableOf({ everyMs: 1_000, cron });
    timetable.began('a');
    timetable.runAgain('a', 500);
    timetable.stop();
    await clock.advance(10_000);
    assert.deepEqual(woken, []);
  });
});
