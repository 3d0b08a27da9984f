import { Cron } from 'croner';
import { messageOf } from './homeostat-error.ts';

/** An immutable cron schedule. */
export interface CronSchedule {
  /** The first time after `afterMs`, in ms since the epoch. Undefined: none. */
  nextMs(afterMs: number): number | undefined;
}

/**
 * Parses a cron expression of five fields, or six with seconds first, in an IANA time zone. If daylight saving time
 * repeats or skips an hour, fixed times run once and steps follow the wall clock.
 * @throws Error whose message says what is wrong, with a capital first letter and no final period.
 */
export function parseCron(expression: string, timeZone = 'UTC'): CronSchedule {
  assertTimeZone(timeZone);
  const text = expression.trim();
  const fields = text.split(/\s+/).length;
  if (fields < 5 || fields > 6) {
    throw new Error(`Expected 5 fields, or 6 with seconds first, found "${fields}"`);
  }
  // The library reads `?` as the time of parsing, others read it as "any".
  if (text.includes('?')) throw new Error('Expected "*" for any value, found "?"');
  let cron: Cron;
  try {
    cron = new Cron(text, { timezone: timeZone, mode: '5-or-6-parts' });
  } catch (error) {
    throw new Error(cronMessage(error), { cause: error });
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

/** The message without the library's prefix `CronPattern: `. */
function cronMessage(error: unknown): string {
  const text = messageOf(error);
  const message = text.replace(/^Cron\w*: /, '').replace(/\.+$/, '');
  return message.charAt(0).toUpperCase() + message.slice(1);
}
