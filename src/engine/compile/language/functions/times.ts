import { type CronSchedule, parseCron } from '#util/cron.ts';
import { parseDurationMs } from '#util/duration.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { parseLocalTime, type TimeZone, timeOfLocal, timeZoneOf } from '#util/zoned-time.ts';
import { limits } from '../limits.ts';
import type { Meter } from '../meter.ts';
import { invalidArgument, shortArgument, wrongArgument } from './arguments.ts';
import type { LanguageFunction } from './language-function.ts';
import { formatTime, layoutReason } from './time-layout.ts';

/** Times are strings in the form of `$now()`, so that `<` and `>` compare them. */
export const timeFunctions: readonly LanguageFunction[] = [
  {
    name: 'time',
    params: ['time', 'zone?'],
    returns: 'string',
    doc: 'The time in the form of $now(), so that "<" compares it; the zone is for a time without an offset',
    example: {
      source: '$time("2026-01-02 04:04", "Europe/Berlin")',
      gives: '2026-01-02T03:04:00.000Z',
    },
    literals: {
      time: (text) => (parseLocalTime(text) === undefined ? expectedTime : undefined),
      zone: zoneReason,
    },
    run: ([value, zone], { meter }) => {
      const found = parseLocalTime(shortText('time', value, 'the first argument'));
      if (found === undefined) throw invalid('time', expectedTime, 'the first argument');
      const { localMs, offsetMs } = found;
      const place = { which: 'the second argument', meter };
      const ms =
        offsetMs === undefined
          ? timeOfLocal(localMs, zoneArgument('time', zone, place))
          : localMs - offsetMs;
      return textOf('time', ms);
    },
  },
  {
    name: 'addDuration',
    params: ['time', 'duration'],
    returns: 'string',
    doc: 'The time that is a duration later: "1h30m", "-1h", or a number of seconds',
    example: { source: '$addDuration($now(), "1h30m")', gives: '2026-01-02T04:34:05.000Z' },
    literals: {
      time: timeReason,
      duration: (text) => (signedDurationMs(text) === undefined ? expectedDuration : undefined),
    },
    run: ([value, duration], { meter }) => {
      meter.spend(5);
      if (duration === undefined) return undefined;
      const ms = timeArgument('addDuration', value, 'the first argument');
      return textOf('addDuration', ms + durationArgument(duration));
    },
  },
  {
    name: 'formatTime',
    params: ['time', 'layout', 'zone?'],
    returns: 'string',
    doc: 'The time in a layout of date(1), such as "%Y-%m-%d %H:%M", in a zone (default "UTC")',
    example: {
      source: '$formatTime($now(), "%d %b %Y, %H:%M", "Europe/Berlin")',
      gives: '02 Jan 2026, 04:04',
    },
    literals: { time: timeReason, layout: layoutReason, zone: zoneReason },
    run: ([value, layoutValue, zone], { meter }) => {
      const ms = timeArgument('formatTime', value, 'the first argument');
      const layout = shortText('formatTime', layoutValue, 'the second argument');
      const place = { which: 'the third argument', meter };
      const { offsetMs } = zoneArgument('formatTime', zone, place);
      meter.spend(20 + layout.length);
      const text = formatTime(layout, { ms, offsetMs: offsetMs(ms) });
      if (text !== undefined) return text;
      throw invalidArgument('formatTime', 'a layout such as "%Y-%m-%d"', 'the second argument');
    },
  },
  {
    name: 'nextTime',
    params: ['cron', 'zone?', 'after?'],
    returns: 'string',
    doc: 'The next time of a cron expression in a zone, after a time (default $now()); no value if none comes',
    example: {
      source: '$nextTime("0 3 * * 1", "Europe/Berlin", $now())',
      gives: '2026-01-05T02:00:00.000Z',
    },
    literals: { cron: cronReason, zone: zoneReason, after: timeReason },
    run: ([cron, zone, ...rest], { scope, meter }) => {
      // A missing time is not the present: the reconcile would not know that the result depends on it.
      if (rest.length > 0 && (rest[0] === undefined || rest[0] === null)) return undefined;
      const text = shortText('nextTime', cron, 'the first argument');
      const zoneName =
        zone === undefined ? 'UTC' : shortText('nextTime', zone, 'the second argument');
      const after =
        rest.length === 0
          ? Date.parse(scope.now)
          : timeArgument('nextTime', rest[0], 'the third argument');
      meter.spend(cronSteps.parse);
      const next = scheduleOf(text, zoneName).nextMs(after);
      if (next === undefined) meter.spend(cronSteps.search);
      return next === undefined ? undefined : textOf('nextTime', next);
    },
  },
];

/** A time that never comes is searched for in all years. */
const cronSteps = { parse: 2_000, search: 100_000 };
/** Intl needs some time to look up a time zone. */
const zoneSteps = 500;

const expectedTime = 'Expected a time in RFC 3339 such as "2026-01-02T03:04:05Z"';
const expectedDuration = 'Expected a duration such as "1h30m" or a number of seconds';
const expectedZone = 'Expected a time zone such as "UTC" or "Europe/Berlin"';

function invalid(name: string, message: string, which: string) {
  return invalidArgument(name, message.replace(/^Expected /, ''), which);
}

function shortText(name: string, value: unknown, which: string): string {
  return shortArgument(name, value, { most: limits.pictureLength, which });
}

function scheduleOf(cron: string, zone: string): CronSchedule {
  if (timeZoneOf(zone) === undefined)
    throw invalid('nextTime', expectedZone, 'the second argument');
  try {
    return parseCron(cron, zone);
  } catch {
    // The message of the parser repeats the value.
    const expected = 'a cron expression such as "0 3 * * 1"';
    throw invalidArgument('nextTime', expected, 'the first argument');
  }
}

function cronReason(text: string): string | undefined {
  if (text.length > limits.pictureLength) return 'Expected a shorter cron expression';
  try {
    parseCron(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function zoneReason(text: string): string | undefined {
  return timeZoneOf(text) === undefined ? expectedZone : undefined;
}

function timeReason(text: string): string | undefined {
  return parseLocalTime(text)?.offsetMs === undefined ? expectedTime : undefined;
}

function zoneArgument(
  name: string,
  value: unknown,
  { which, meter }: { readonly which: string; readonly meter: Meter },
): TimeZone {
  const text = value === undefined ? 'UTC' : shortText(name, value, which);
  if (text !== 'UTC') meter.spend(zoneSteps);
  const zone = timeZoneOf(text);
  if (zone === undefined) throw invalid(name, expectedZone, which);
  return zone;
}

/** A time with its offset, in milliseconds. */
function timeArgument(name: string, value: unknown, which: string): number {
  const { localMs, offsetMs } = parseLocalTime(shortText(name, value, which)) ?? {};
  if (localMs === undefined || offsetMs === undefined) throw invalid(name, expectedTime, which);
  return localMs - offsetMs;
}

function durationArgument(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value * 1_000;
  if (typeof value !== 'string') {
    throw wrongArgument('addDuration', 'a string or a number', value, 'the second argument');
  }
  const ms = signedDurationMs(shortText('addDuration', value, 'the second argument'));
  if (ms === undefined) throw invalid('addDuration', expectedDuration, 'the second argument');
  return ms;
}

function signedDurationMs(text: string): number | undefined {
  const ms = parseDurationMs(text.replace(/^-/, ''));
  return ms !== undefined && text.startsWith('-') ? -ms : ms;
}

const years = {
  first: Date.parse('0000-01-01T00:00:00Z'),
  last: Date.parse('+010000-01-01T00:00:00Z'),
};

/** In the form of `$now()`, which has four digits for a year. */
function textOf(name: string, ms: number): string {
  if (ms >= years.first && ms < years.last) return new Date(Math.round(ms)).toISOString();
  throw invalidArgument(name, 'a time before the year 10000', 'the result');
}
