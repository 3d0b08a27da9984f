import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { evaluate } from '../../../../../test/support/compile/test-scope.ts';
import type { Scope } from '../leaf.ts';
import { WorkBudget } from '../work-budget.ts';
import { TimeFlips } from './time-flips.ts';

const now = '2026-01-02T03:04:05.678Z';
const nowMs = Date.parse(now);
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const root = {
  spec: {
    grace: '1h',
    zone: 'Europe/Berlin',
    until: '2026-01-02T04:00:00Z',
    date: '2026-01-03',
    past: '2026-01-01T00:00:00Z',
    items: [{ expires: '2026-02-01T00:00:00.000Z' }, { expires: '2026-01-20T00:00:00.000Z' }],
    windows: [
      { from: '2026-01-02T02:00:00.000Z', to: '2026-01-02T03:30:00.000Z' },
      { from: '2026-01-02T05:00:00.000Z', to: '2026-01-02T06:00:00.000Z' },
    ],
    three: 3,
    inAnHour: '2026-01-02T04:04:05.678Z',
    certs: Array.from({ length: 7 }, (_, hours) => ({
      until: new Date(nowMs + 10 * dayMs + (hours + 1) * hourMs).toISOString(),
    })),
  },
  status: { startedAt: '2026-01-02T03:00:00.000Z', startedMs: nowMs - 1_000 },
};

/** The time of the next change, in the form of `$now()`. */
async function flipOf(source: string, at = now): Promise<string | undefined> {
  const flips = new TimeFlips(Date.parse(at));
  await evaluate(source, root, { now: at, flips });
  const { earliestMs } = flips;
  return earliestMs === undefined ? undefined : new Date(earliestMs).toISOString();
}

describe('compile/language/present: when the result of an expression changes', () => {
  for (const [source, expected] of [
    ['$now() > $addDuration(status.startedAt, spec.grace)', '2026-01-02T04:00:00.001Z'],
    ['$now() >= $addDuration(status.startedAt, spec.grace)', '2026-01-02T04:00:00.000Z'],
    ['$addDuration(status.startedAt, spec.grace) < $now()', '2026-01-02T04:00:00.001Z'],
    ['$addDuration($now(), "-1h") >= status.startedAt', '2026-01-02T04:00:00.000Z'],
    [
      '$millis() - $toMillis(status.startedAt) >= $duration(spec.grace) * 1000',
      '2026-01-02T04:00:00.000Z',
    ],
    ['($millis() - $toMillis(status.startedAt)) / 60000 >= 60', '2026-01-02T04:00:00.000Z'],
    ['$floor(($millis() - $toMillis(status.startedAt)) / 60000) > 59', '2026-01-02T04:00:00.000Z'],
    ['$floor(($millis() - $toMillis(status.startedAt)) / 60000) = 10', '2026-01-02T03:10:00.000Z'],
    ['$now() < spec.past', undefined],
    ['$now() > spec.past', undefined],
    // Texts are compared by their characters.
    ['$now() >= spec.until', '2026-01-02T04:00:01.000Z'],
    ['$now() >= $time(spec.until)', '2026-01-02T04:00:00.000Z'],
    ['$now() >= spec.date', '2026-01-03T00:00:00.000Z'],
    ['$not($now() < $time(spec.until)) ? "late" : "early"', '2026-01-02T04:00:00.000Z'],
    ['spec.items[expires < $now()]', '2026-01-20T00:00:00.001Z'],
    ['$filter(spec.items, function($i) { $now() > $i.expires })', '2026-01-20T00:00:00.001Z'],
    [
      '( $n := $now(); $count(spec.windows[from <= $n and $n < to]) > 0 )',
      '2026-01-02T03:30:00.000Z',
    ],
    [
      '$min([$millis(), $toMillis(spec.date)]) >= $toMillis($time(spec.until))',
      '2026-01-02T04:00:00.000Z',
    ],
    [
      '$max([$toMillis($time(spec.until)), $millis()]) > $toMillis($time(spec.until))',
      '2026-01-02T04:00:00.001Z',
    ],
    ['{ "a": $now() > "2026-03", "b": $now() > "2026-02" }', '2026-02-01T00:00:00.000Z'],
    ['spec.items{ expires: $now() > expires }', '2026-01-20T00:00:00.001Z'],
    ['$formatTime($now(), "%H:%M") >= "04:00"', '2026-01-02T04:00:00.000Z'],
    ['$formatTime($now(), "%H:%M", spec.zone) >= "05:00"', '2026-01-02T04:00:00.000Z'],
    ['$formatTime($now(), "%u", spec.zone) in ["6", "7"]', '2026-01-02T23:00:00.000Z'],
    ['$formatTime($now(), "%a") = "Sun"', '2026-01-04T00:00:00.000Z'],
    ['$substring($now(), 0, 10) > "2026-01-09"', '2026-01-10T00:00:00.000Z'],
    ['$number($substring($now(), 11, 2)) >= 22', '2026-01-02T22:00:00.000Z'],
    ['$number($substring($now(), 11, 2)) < 3', '2026-01-03T00:00:00.000Z'],
    ['$millis() % 86400000 < 3600000', '2026-01-03T00:00:00.000Z'],
    ['$substring($addDuration($now(), "1h"), 11, 5) >= "22:00"', '2026-01-02T21:00:00.000Z'],
    ['$substring($addDuration($now(), "1h"), 8, 2) >= "20"', '2026-01-19T23:00:00.000Z'],
    ['$substring($now(), -13, 2) >= "22"', '2026-01-02T22:00:00.000Z'],
    ['$substring($now(), -13, 2) < "03"', '2026-01-03T00:00:00.000Z'],
    [
      '$substring($formatTime($now(), "%H:%M", spec.zone), 3, 2) >= "30"',
      '2026-01-02T03:30:00.000Z',
    ],
    ['$substring($formatTime($now(), "%H:%M"), 3, 2) < "04"', '2026-01-02T04:00:00.000Z'],
    // Each has the present value 10, and the seventh is not the first that changes.
    [
      'spec.certs[$floor(($toMillis(until) - $millis()) / 86400000) < 10]',
      '2026-01-02T04:04:05.679Z',
    ],
    [
      '$reverse(spec.certs)[$floor(($toMillis(until) - $millis()) / 86400000) < 10]',
      '2026-01-02T04:04:05.679Z',
    ],
    ['$abs($millis() - $toMillis(spec.inAnHour)) < 600000', '2026-01-02T03:54:05.679Z'],
    ['$abs($toMillis(spec.inAnHour) - $millis()) <= 600000', '2026-01-02T03:54:05.678Z'],
    ['$abs($millis() - $toMillis(spec.inAnHour)) > 3600000', '2026-01-02T05:04:05.679Z'],
    [
      '$formatTime($now(), "%H:%M") in $map([0..99], function($n) { $n < 99 ? "never" & $n : "04:00" })',
      '2026-01-02T04:00:00.000Z',
    ],
    ['$fromMillis($millis(), "[H01]:[m01]") >= "04:00"', '2026-01-02T04:00:00.000Z'],
    ['$fromMillis($millis(), "[H01]:[m01]", "+0100") >= "05:10"', '2026-01-02T04:10:00.000Z'],
    ['$nextTime("0 3 * * 1")', '2026-01-05T03:00:00.000Z'],
    ['$nextTime("0 3 * * 1", "UTC", status.startedAt)', undefined],
    ['$now() >= $nextTime("0 4 * * *", "UTC", status.startedAt)', '2026-01-02T04:00:00.000Z'],
    // The value is the present by chance, too: it stays, and the present goes on.
    ['$now() > $addDuration(status.now ?? $now(), "1h")', '2026-01-02T04:04:05.679Z'],
    ['$now()', undefined],
    ['$now() & "a" = "b"', undefined],
    ['$now() > 5 ? 1 : 2', undefined],
    ['$now() > status.nothing', undefined],
    ['spec.three > 2', undefined],
    ['$now() > "2099"', undefined],
  ] as const) {
    test(`${source}: ${expected ?? 'never'}`, async () => {
      if (source.startsWith('$now() > 5')) await assert.rejects(flipOf(source));
      else assert.equal(await flipOf(source), expected);
    });
  }

  test('without a request for it, evaluations give the same', async () => {
    for (const source of [
      '$now() > spec.past',
      '$millis() - 1 > 5',
      'spec.items[expires < $now()]',
    ]) {
      const flips = new TimeFlips(nowMs);
      const followed = await evaluate(source, root, { now, flips });
      assert.deepEqual(followed, await evaluate(source, root, { now }));
    }
  });

  /** The steps of all searches of an evaluation that follows the time. */
  async function stepsOf(source: string, flips: TimeFlips): Promise<number> {
    const steps = async (more: Partial<Scope>) => {
      let spent = 0;
      const budget = new WorkBudget();
      const spend = budget.spend.bind(budget);
      budget.spend = (count) => {
        spent += count;
        spend(count);
      };
      await evaluate(source, root, { now, budget, ...more });
      return spent;
    };
    return (await steps({ flips })) - (await steps({}));
  }

  const never = (elements: number, text: string) =>
    `$map([1..${elements}], function($n) { $formatTime($now(), "%S %M") = ${text} })`;

  test('the work of all searches is limited, charged as steps, and continues later', async () => {
    const flips = new TimeFlips(nowMs);
    // Each second is looked at, for each of many elements.
    const steps = await stepsOf(never(300, '"never" & $string($n)'), flips);
    assert.equal(flips.earliestMs, nowMs + 10 * 60_000);
    assert.ok(steps >= 3_000 && steps <= 100_000, String(steps));
  });

  test('equal comparisons are searched once', async () => {
    const flips = new TimeFlips(nowMs);
    const once = await stepsOf(never(1, '"never"'), flips);
    assert.ok(once > 0);
    assert.equal(await stepsOf(never(300, '"never"'), new TimeFlips(nowMs)), once);
  });

  test('times of day are searched by days, not by minutes', async () => {
    for (const [layout, text] of [
      ['%H:%M', '07:00'],
      ['%T', '07'],
      ['%H:%M:%S', '07:00:00'],
      ['%F %H:%M', '2026-01-02 07:00'],
    ]) {
      const flips = new TimeFlips(nowMs);
      const source = `$formatTime($now(), "${layout}", spec.zone) >= "${text}"`;
      assert.ok((await stepsOf(source, flips)) <= 100, source);
      assert.equal(flips.earliestMs, Date.parse('2026-01-02T06:00:00Z'), source);
    }
  });

  test('values with more alternatives than are followed are looked at later', async () => {
    const source = `(
      $days := $map(spec.certs, function($c) { $floor(($toMillis($c.until) - $millis()) / 86400000) });
      $days[0] < 9
    )`;
    assert.equal(await flipOf(source), '2026-01-02T03:14:05.678Z');
  });

  test('elements that are not compared are looked at later', async () => {
    const list = '$map([0..200], function($n) { "never" & $n })';
    assert.equal(await flipOf(`$formatTime($now(), "%a") in ${list}`), '2026-01-02T03:14:05.678Z');
    // Without a time among them they are not.
    assert.equal(await flipOf(`($now(); "a" in ${list})`), undefined);
  });

  // Every kind of value, with times around the present and far from it.
  const values = [
    '$now()',
    '$addDuration($now(), "-5m")',
    '$time($now())',
    '$fromMillis($millis())',
    '$fromMillis($min([$millis(), $toMillis("2026-01-02T12:00:00.000Z")]))',
    '$nextTime("*/7 * * * *", "UTC", "2026-01-02T03:00:00Z")',
    'status.startedAt',
    '"2026-01-02T03:04:05.679Z"',
    '"2026-01-02T03:04:06"',
    '"2026-01-02"',
    '"2026-01-02T08"',
  ];
  const numbers = [
    '$millis()',
    '$millis() - status.startedMs',
    '(status.startedMs + 90000 - $millis()) / 1000',
    '$ceil((status.startedMs + 90000 - $millis()) / 1000)',
    '$floor($millis() / 60000) % 5',
    '$millis() % 10000',
    '$max([0, status.startedMs + 5000 - $millis()])',
    '1767323050000',
    '2500',
    '3',
  ];

  test('before the change that is found, no result differs', async () => {
    const operators = ['<', '<=', '>', '>=', '='];
    const sources = [values, numbers].flatMap((all) =>
      all.flatMap((left, row) =>
        all.map((right, column) => {
          const operator = operators[(row * 3 + column) % operators.length];
          return `(${left}) ${operator} (${right})`;
        }),
      ),
    );
    for (const source of sources) {
      const flips = new TimeFlips(nowMs);
      const first = await evaluate(source, root, { now, flips });
      const endMs = Math.min(flips.earliestMs ?? Number.POSITIVE_INFINITY, nowMs + 30 * hourMs);
      for (let step = 0; step <= 8; step++) {
        // From milliseconds to hours after the present.
        const ms = Math.min(nowMs + Math.round((endMs - nowMs) * (step / 8) ** 4), endMs - 1);
        // A difference of times equals a value for a millisecond at most.
        const later = await evaluate(source, root, { now: new Date(ms).toISOString() });
        const isInstant = source.includes(') = (') && later === true && first === false;
        if (!isInstant) assert.equal(later, first, `${source} at ${new Date(ms).toISOString()}`);
      }
    }
  });
});
