import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestParser, evaluate } from '../../../../../test/support/compile/test-scope.ts';

const root = {
  spec: {
    at: '2026-01-02T03:04:05Z',
    offset: '2026-01-02T03:04:05.6789+02:00',
    grace: '-90m',
    cron: '0 3 * * 1',
    never: '0 0 30 2 *',
    zone: 'Europe/Berlin',
    broken: 'secret',
    local: '2026-03-29 02:30',
  },
};

describe('compile/language/functions times', () => {
  for (const [source, expected] of [
    ['$time(spec.at)', '2026-01-02T03:04:05.000Z'],
    ['$time(spec.offset)', '2026-01-02T01:04:05.678Z'],
    ['$time(spec.offset, spec.zone)', '2026-01-02T01:04:05.678Z'],
    ['$time("2026-01-02")', '2026-01-02T00:00:00.000Z'],
    ['$time("2026-07-02T12:00", spec.zone)', '2026-07-02T10:00:00.000Z'],
    ['$time(spec.local, spec.zone)', '2026-03-29T01:30:00.000Z'],
    ['$time("2026-10-25 02:30", spec.zone)', '2026-10-25T00:30:00.000Z'],
    ['$time("2026-11-01 01:30", "America/New_York")', '2026-11-01T05:30:00.000Z'],
    ['$time("2026-01-02 00:00", "Asia/Kathmandu")', '2026-01-01T18:15:00.000Z'],
    ['$time(spec.nothing)', undefined],
    ['$now() > $time(spec.at)', true],
    ['$addDuration(spec.at, "1h30m")', '2026-01-02T04:34:05.000Z'],
    ['$addDuration(spec.at, spec.grace)', '2026-01-02T01:34:05.000Z'],
    ['$addDuration(spec.at, -5)', '2026-01-02T03:04:00.000Z'],
    ['$addDuration(spec.at, $duration("1d"))', '2026-01-03T03:04:05.000Z'],
    ['$addDuration(spec.at, spec.nothing)', undefined],
    ['$addDuration(spec.nothing, "1h")', undefined],
    ['$formatTime(spec.at, "%Y-%m-%dT%H:%M:%S%z")', '2026-01-02T03:04:05+0000'],
    ['$formatTime(spec.at, "%F %T %z", spec.zone)', '2026-01-02 04:04:05 +0100'],
    [
      '$formatTime(spec.at, "%a %A %b %B %d %e %j %u", "Pacific/Kiritimati")',
      'Fri Friday Jan January 02  2 002 5',
    ],
    ['$formatTime(spec.offset, "%I:%M %p %L %s %y%%")', '01:04 AM 678 1767315845 26%'],
    ['$formatTime("2024-12-31T23:59:59Z", "%j %u")', '366 2'],
    ['$formatTime(spec.at, "%z", "America/St_Johns")', '-0330'],
    ['$formatTime(spec.nothing, "%Y")', undefined],
    ['$nextTime(spec.cron)', '2026-01-05T03:00:00.000Z'],
    ['$nextTime(spec.cron, spec.zone)', '2026-01-05T02:00:00.000Z'],
    ['$nextTime(spec.cron, spec.nothing, "2026-01-05T03:00:00Z")', '2026-01-12T03:00:00.000Z'],
    ['$nextTime(spec.never, "UTC", spec.at)', undefined],
    ['$nextTime(spec.cron, "UTC", spec.nothing)', undefined],
    ['$nextTime(spec.nothing)', undefined],
    [
      '$map(["0 3 * * 1", "0 4 * * 1"], $nextTime)',
      ['2026-01-05T03:00:00.000Z', '2026-01-05T04:00:00.000Z'],
    ],
  ] as const) {
    test(`${source} gives ${JSON.stringify(expected)}`, async () => {
      assert.deepEqual(await evaluate(source, root), expected);
    });
  }

  for (const source of [
    '$time(spec.broken)',
    '$time(spec.local, spec.broken)',
    '$time(1)',
    '$time("2026-02-30" & "")',
    '$time("2026-01-02T24:01:00Z" & "")',
    '$time("2026-01-02T03:04:05+25:00" & "")',
    '$addDuration(spec.broken, "1h")',
    '$addDuration(spec.local, "1h")',
    '$addDuration(spec.at, spec.broken)',
    '$addDuration(spec.at, true)',
    '$addDuration(spec.at, 1e300)',
    '$addDuration(spec.at, 300000000000)',
    '$formatTime(spec.at, spec.broken & "%Q")',
    '$formatTime(spec.at, "a" & "%")',
    '$formatTime(spec.at, "%Y", spec.broken)',
    '$formatTime(spec.at, spec.nothing)',
    '$nextTime(spec.broken)',
    '$nextTime(spec.cron, spec.broken)',
    '$nextTime(spec.cron, "UTC", spec.broken)',
  ]) {
    test(`${source} is an error without a value`, async () => {
      await assert.rejects(
        async () => evaluate(source, root),
        (error: Error & { code: string }) =>
          error.code === 'evaluation-failed' && !error.message.includes('secret'),
      );
    });
  }

  test('invalid literals are rejected at load', () => {
    const source =
      '[$time("soon"), $addDuration(spec.at, "1x"), $formatTime(spec.at, "%Q"), $nextTime("* * *"), $nextTime(spec.cron, "Mars")]';
    const { problems } = createTestParser().parse(`\${ ${source} }`);
    assert.deepEqual(
      problems.map(({ code, message }) => [code, message.slice(0, 25)]),
      [
        ['invalid-value', 'Expected a time in RFC 33'],
        ['invalid-value', 'Expected a duration such '],
        ['invalid-value', 'Expected a layout of %% %'],
        ['invalid-value', 'Expected 5 fields, or 6 w'],
        ['invalid-value', 'Expected a time zone such'],
      ],
    );
  });
});
