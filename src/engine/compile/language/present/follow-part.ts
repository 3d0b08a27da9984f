import { again, type FollowedCall } from './follow-again.ts';
import type { PeriodEnd, TimedValue, TimeFlips } from './time-flips.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The hours of `$substring($now(), 11, 2)` start again every day. */
export function followPart(flips: TimeFlips, call: FollowedCall): void {
  const [text, start] = call.args;
  const index = startOf(String(text), Number(start));
  for (const { timed, argument } of again(flips, call)) {
    // A part of a text need not grow with it.
    const until = argument.staysUntil ?? startsAgain(argument, index) ?? timed.until;
    flips.note(call.result, { ...timed, hasSteps: true, until });
  }
}

/** A negative start is counted from the end. */
function startOf(text: string, start: number): number {
  return start < 0 ? Math.max([...text].length + start, 0) : start;
}

/** When the part of a time such as "2026-01-02T03:04:05.000Z" that starts at an index starts again. */
function startsAgain({ at }: TimedValue, start: number): PeriodEnd | undefined {
  if (!(start > 0)) return undefined;
  const next = nextStart(start);
  return (ms) => {
    // The text may be a time that is moved by a duration.
    const timeMs = Date.parse(String(at(ms)));
    return ms + (next(timeMs) - timeMs);
  };
}

function nextStart(index: number): PeriodEnd {
  if (index < 8) return startOfNext((date) => date.setUTCFullYear(date.getUTCFullYear() + 1, 0, 1));
  if (index < 11) return startOfNext((date) => date.setUTCMonth(date.getUTCMonth() + 1, 1));
  const unit = index < 14 ? dayMs : index < 17 ? hourMs : index < 20 ? minuteMs : secondMs;
  return (ms) => (Math.floor(ms / unit) + 1) * unit;
}

function startOfNext(advance: (date: Date) => void): PeriodEnd {
  return (ms) => {
    const date = new Date(Math.floor(ms / dayMs) * dayMs);
    advance(date);
    return date.getTime();
  };
}
