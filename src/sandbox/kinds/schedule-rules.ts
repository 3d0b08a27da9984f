import { goQuote } from '../go-value.ts';
import { type FieldError, invalidField, requiredField } from '../status/field-error.ts';

const descriptors = [
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
];
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Bounds {
  readonly least: number;
  readonly most: number;
  /** Names of the values, beginning with the lowest. */
  readonly names?: readonly string[];
}

const fields: readonly Bounds[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: months },
  { least: 0, most: 6, names: weekdays },
];

/** Validates the schedule of a CronJob. */
export function scheduleErrors(schedule: string, at: string): readonly FieldError[] {
  if (schedule === '') return [requiredField(at)];
  const problem = scheduleProblem(schedule);
  const zone = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
  return [
    ...(problem === undefined ? [] : [invalidField(at, schedule, problem)]),
    ...(schedule.includes('TZ') ? [invalidField(at, schedule, zone)] : []),
  ];
}

function scheduleProblem(schedule: string): string | undefined {
  const text = schedule.replace(/^(?:CRON_)?TZ=\S* /, '').trim();
  if (text.startsWith('@every ')) return durationProblem(text);
  if (text.startsWith('@'))
    return descriptors.includes(text) ? undefined : `unrecognized descriptor: ${text}`;
  const parts = text.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== fields.length)
    return `expected exactly ${fields.length} fields, found ${parts.length}: [${parts.join(' ')}]`;
  for (const [index, bounds] of fields.entries()) {
    const ranges = (parts[index] ?? '').split(',').filter((range) => range !== '');
    for (const range of ranges) {
      const problem = rangeProblem(range, bounds);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function durationProblem(text: string): string | undefined {
  const duration = text.slice('@every '.length);
  if (/^[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/.test(duration))
    return undefined;
  const isMissing = /^[-+]?\d+\.?\d*$/.test(duration);
  const why = isMissing ? 'missing unit in duration' : 'invalid duration';
  return `failed to parse duration ${text}: time: ${why} ${goQuote(duration)}`;
}

/** `*`, `5`, `1-5`, each with an optional step. */
function rangeProblem(range: string, bounds: Bounds): string | undefined {
  const [span = '', step, ...moreSteps] = range.split('/');
  const [low = '', high, ...moreBounds] = span.split('-');
  const isOpen = low === '*' || low === '?';
  const start = isOpen ? bounds.least : numberOf(low, bounds.names);
  if (typeof start === 'string') return start;
  if (!isOpen && moreBounds.length > 0) return `too many hyphens: ${range}`;
  const highOrEnd = isOpen
    ? bounds.most
    : high === undefined
      ? start
      : numberOf(high, bounds.names);
  if (typeof highOrEnd === 'string') return highOrEnd;
  if (moreSteps.length > 0) return `too many slashes: ${range}`;
  const size = step === undefined ? 1 : numberOf(step);
  if (typeof size === 'string') return size;
  // From a number to the maximum, in steps.
  const end = step !== undefined && high === undefined ? bounds.most : highOrEnd;
  return boundsProblem({ start, end, size }, bounds, range);
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly size: number;
}

function boundsProblem(
  { start, end, size }: Span,
  { least, most }: Bounds,
  range: string,
): string | undefined {
  if (start < least) return `beginning of range (${start}) below minimum (${least}): ${range}`;
  if (end > most) return `end of range (${end}) above maximum (${most}): ${range}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${range}`;
  return size === 0 ? `step of range should be a positive number: ${range}` : undefined;
}

/** A number, or why the text is invalid. */
function numberOf(text: string, names: readonly string[] = []): number | string {
  const index = names.indexOf(text.toLowerCase());
  if (index >= 0) return index + (names === months ? 1 : 0);
  if (!/^[-+]?\d+$/.test(text)) {
    const why = `strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`;
    return `failed to parse int from ${text}: ${why}`;
  }
  const number = Number(text);
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}

/** Validates the time zone of a CronJob. */
export function timeZoneErrors(zone: string, at: string): readonly FieldError[] {
  if (zone === '') return [invalidField(at, zone, 'timeZone must be nil or non-empty string')];
  const unknown = [invalidField(at, zone, `unknown time zone ${zone}`)];
  if (zone.includes('..') || /^[/\\]/.test(zone))
    return [invalidField(at, zone, 'time: invalid location name')];
  const isPath = zone
    .split('/')
    .every((part) => /^(?!\.{1,2}$)[A-Za-z._0-9+][-A-Za-z._0-9+]{0,13}$/.test(part));
  if (!isPath) return unknown;
  const detail =
    'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  if (zone === 'Local') return [invalidField(at, zone, detail)];
  return isTimeZone(zone) ? [] : unknown;
}

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
