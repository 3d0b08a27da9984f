import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CronTime, parseCronSchedule } from './cron-job-controller.ts';

const at = (time: Partial<CronTime>): CronTime => ({
  minute: 0,
  hour: 0,
  day: 1,
  month: 1,
  weekday: 4,
  ...time,
});

describe('sandbox/controllers/cron-schedule', () => {
  for (const [schedule, time, matches] of [
    ['* * * * *', { minute: 17, hour: 3 }, true],
    ['*/5 * * * *', { minute: 15 }, true],
    ['*/5 * * * *', { minute: 16 }, false],
    ['1-9/4 * * * *', { minute: 9 }, true],
    ['0 8-18 * * mon-fri', { hour: 12, weekday: 5 }, true],
    ['0 8-18 * * MON-FRI', { hour: 12, weekday: 6 }, false],
    ['0 0 * * 7', { weekday: 0 }, true],
    ['0 0 13 * 5', { day: 13, weekday: 1 }, true],
    ['0 0 13 * 5', { day: 12, weekday: 5 }, true],
    ['0 0 13 * *', { day: 12, weekday: 5 }, false],
    ['0 0 1 jan,jul *', { month: 7 }, true],
    ['@hourly', { hour: 5 }, true],
    ['@daily', { hour: 5 }, false],
  ] as const) {
    test(`${schedule} ${matches ? 'includes' : 'leaves out'} ${JSON.stringify(time)}`, () => {
      assert.equal(parseCronSchedule(schedule)?.(at(time)), matches);
    });
  }

  for (const text of ['', '* * * *', '60 * * * *', '5-1 * * * *', 'a * * * *', '*/0 * * * *']) {
    test(`"${text}" is none`, () => assert.equal(parseCronSchedule(text), undefined));
  }
});
