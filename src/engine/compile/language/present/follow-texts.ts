import type { TimeZone } from '#util/zoned-time.ts';
import { formatTime } from '../functions/time-layout.ts';
import { again, type FollowedCall } from './follow-again.ts';
import { periodsOfLayout, periodsOfPicture } from './layout-periods.ts';
import { firstOf } from './next-change.ts';
import { constantKey, earlierEnd, type PeriodEnd, type TimeFlips } from './time-flips.ts';

/** A picture may show any part of a time, none of which is shorter than a second in practice. */
export function followPicture(flips: TimeFlips, call: FollowedCall): void {
  const [, picture, offset] = call.args;
  const isText = typeof picture === 'string';
  const { stepMs, growsMs } = periodsOfPicture(isText ? picture : '', offset);
  for (const { timed, argument } of again(flips, call)) {
    if (!isText) {
      flips.note(call.result, timed);
      continue;
    }
    const msAt = (ms: number) => Number(argument.at(ms));
    const end = (unitMs: number) => endOf({ msAt, zone: utc, unitMs, stepMs });
    flips.note(call.result, {
      ...timed,
      until: earlierEnd(argument.until, end(growsMs)),
      staysUntil: end(stepMs),
      hasSteps: true,
    });
  }
}

const utc: TimeZone = { offsetMs: () => 0 };

/** A text of a time changes with the smallest part of its layout. */
export function followLayout(flips: TimeFlips, { name, args, result }: FollowedCall): void {
  const [time, layout, zoneName = 'UTC'] = args;
  const ways = flips.waysOf(time);
  if (ways.all.length === 0 || typeof layout !== 'string') return;
  const zone = flips.zones.of(String(zoneName));
  if (zone === undefined) return;
  if (ways.isCut) flips.noteCut(result);
  const { stepMs, growsMs } = periodsOfLayout(layout);
  for (const { key, at, until } of ways.all) {
    const msAt = (ms: number) => Date.parse(String(at(ms)));
    const end = (unitMs: number) => endOf({ msAt, zone, unitMs, stepMs });
    flips.note(result, {
      key: flips.keyOf([name, key, constantKey(layout), constantKey(zoneName)]),
      at: (ms) => textAt(layout, msAt(ms), zone),
      until: earlierEnd(until, end(growsMs)),
      staysUntil: end(stepMs),
      hasSteps: true,
    });
  }
}

/** Undefined: the value is no time then. */
function textAt(layout: string, ms: number, zone: TimeZone): string | undefined {
  return Number.isNaN(ms) ? undefined : formatTime(layout, { ms, offsetMs: zone.offsetMs(ms) });
}

interface ClockPeriods {
  /** The time that is shown. It may be moved by a duration. */
  readonly msAt: (ms: number) => number;
  readonly zone: TimeZone;
  readonly unitMs: number;
  /** For times that do not pass with the present. */
  readonly stepMs: number;
}

/** The end of a whole unit on the clocks of a zone; where the clocks are changed it ends, too. */
function endOf({ msAt, zone, unitMs, stepMs }: ClockPeriods): PeriodEnd {
  const endOfUnit = (ms: number, timeMs: number, unit: number) => {
    const localMs = timeMs + zone.offsetMs(timeMs);
    return ms + unit - (((localMs % unit) + unit) % unit);
  };
  return (ms) => {
    const timeMs = msAt(ms);
    const endMs = endOfUnit(ms, timeMs, unitMs);
    const lastMs = msAt(endMs - 1);
    if (lastMs - timeMs !== endMs - 1 - ms) return endOfUnit(ms, timeMs, stepMs);
    const isOther = (at: number) => zone.offsetMs(msAt(at)) !== zone.offsetMs(timeMs);
    return endMs - 1 > ms && isOther(endMs - 1) ? firstOf(isOther, ms, endMs - 1) : endMs;
  };
}
