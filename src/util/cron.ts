import { Cron } from 'croner';

/** A schedule of points in time. Immutable. */
export interface CronTimes {
  /** The first of its times after a moment, in ms since the epoch; undefined: there is none any more. */
  nextMs(afterMs: number): number | undefined;
}

/**
 * Parses a cron expression of five fields, or of six with seconds first, in an IANA time zone. Where a day has an hour twice or lacks
 * it, times of the day happen once, and steps follow the clock on the wall.
 * @throws Error whose message says what is wrong, with a capital first letter and no final period.
 */
export function parseCron(expression: string, timeZone = 'UTC'): CronTimes {
  assertTimeZone(timeZone);
  const text = expression.trim();
  const fields = text.split(/\s+/).length;
  if (fields < 5 || fields > 6) {
    throw new Error(`Expected 5 fields, or 6 with seconds first, found "${fields}"`);
  }
  // To the library it is the moment at which the expression is parsed, to others "any".
  if (text.includes('?')) throw new Error('Expected "*" for any value, found "?"');
  let cron: Cron;
  try {
    cron = new Cron(text, { timezone: timeZone, mode: '5-or-6-parts' });
  } catch (error) {
    throw new Error(messageOf(error), { cause: error });
  }
  return { nextMs: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() };
}

/** @throws Error when the platform knows no such time zone. */
function assertTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch (error) {
    const message = `Expected a time zone such as "UTC" or "Europe/Berlin", found "${timeZone}"`;
    throw new Error(message, { cause: error });
  }
}

/** `CronPattern: Invalid value ...` without what the library calls itself. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const message = text.replace(/^Cron\w*: /, '').replace(/\.+$/, '');
  return message.charAt(0).toUpperCase() + message.slice(1);
}
