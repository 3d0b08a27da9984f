import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CronSchedules } from './cron-schedules.ts';

describe('util/cron-schedules', () => {
  test('a text is parsed once, in the time zone', () => {
    const schedules = new CronSchedules('Europe/Berlin');
    const schedule = schedules.get('0 3 * * *');
    assert.equal(
      schedule?.nextMs(Date.parse('2026-01-02T00:00:00Z')),
      Date.parse('2026-01-02T02:00:00Z'),
    );
    assert.equal(schedules.get('0 3 * * *'), schedule);
  });

  for (const [what, text] of [
    ['a text that is no cron expression', 'soon'],
    ['a text that is too long', `${' '.repeat(200)}* * * * *`],
  ] as const)
    test(`${what} is no schedule`, () => {
      assert.equal(new CronSchedules('UTC').get(text), undefined);
    });

  test('however many texts there are, few are kept', () => {
    const schedules = new CronSchedules('UTC');
    const first = schedules.get('0 0 * * *');
    for (let minute = 0; minute < 60; minute++)
      for (let hour = 0; hour < 4; hour++) assert.ok(schedules.get(`${minute} ${hour} * * 1`));
    assert.notEqual(schedules.get('0 0 * * *'), first);
  });
});
