import { stepOfLayout } from '../functions/time-layout.ts';
import { quarterMs } from './zone-cache.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** How long a text of a time stays the same at least, and how long it at least only grows or only falls. */
export interface TextPeriods {
  readonly stepMs: number;
  readonly growsMs: number;
}

/** The parts that change within a day, and the period within which each of them grows. */
const growing: readonly (readonly [part: string, growsMs: number])[] = [
  ['H', dayMs],
  ['M', hourMs],
  ['S', minuteMs],
  ['L', secondMs],
];
const unordered = /^[Ip]$/;

/** Of a layout of `$formatTime`, on the clock of its zone. Texts such as "23:59" grow within a day. */
export function periodsOfLayout(layout: string): TextPeriods {
  const stepMs = stepOfLayout(layout);
  const names = [...layout.matchAll(/%(.)/gsu)].map(([, name = '']) => name);
  const parts = names
    .flatMap((name) => (name === 'T' ? ['H', 'M', 'S'] : [name]))
    .filter((name) => name === 's' || unordered.test(name) || indexOfPart(name) >= 0);
  // Seconds since 1970, or a half of a day.
  if (parts.length === 0 || (parts.length === 1 && /^[sp]$/.test(parts[0] ?? '')))
    return { stepMs, growsMs: dayMs };
  const start = indexOfPart(parts[0]);
  const isDescending = parts.every((part, index) => part === growing[start + index]?.[0]);
  const growsMs = isDescending ? growing[start]?.[1] : undefined;
  return { stepMs, growsMs: growsMs ?? stepMs };
}

function indexOfPart(name: string | undefined): number {
  return growing.findIndex(([part]) => part === name);
}

/** Of a picture of `$fromMillis`. An offset of a zone is a number of quarters of an hour. */
export function periodsOfPicture(picture: string, offset: unknown): TextPeriods {
  const stepMs = /\[\s*[sf]/.test(picture) ? secondMs : minuteMs;
  const isQuarter =
    offset === undefined ||
    (typeof offset === 'string' && /^[+-]\d\d(?:00|15|30|45)$/.test(offset));
  const parts = [...picture.matchAll(/\[\s*([msf][^\]]*)\]/g)].map(([, part = '']) => part);
  const expected = [/^m(?:01)?$/, /^s(?:01)?$/];
  const isDescending = parts.every((part, index) => expected[index]?.test(part) === true);
  return { stepMs, growsMs: isQuarter && isDescending ? quarterMs : stepMs };
}
