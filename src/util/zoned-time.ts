/** A date and a time of day on a clock, as milliseconds since 1970 of the same time in UTC. */
export interface LocalTime {
  readonly localMs: number;
  /** The difference to UTC that is written after the time; undefined: none is. */
  readonly offsetMs: number | undefined;
}

const pattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(?:([Zz])|([+-])(\d\d):(\d\d))?$/;
const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Parses a time in RFC 3339, or one without seconds, time of day or offset. Undefined: it is neither. */
export function parseLocalTime(text: string): LocalTime | undefined {
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', ...zone] =
    pattern.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const whole = `${year}-${month}-${day}T${hour.padStart(2, '0')}:${minute.padStart(2, '0')}:${second.padStart(2, '0')}`;
  const wholeMs = Date.parse(`${whole}Z`);
  // Dates such as the 31st of February are parsed as a later one.
  if (Number.isNaN(wholeMs) || new Date(wholeMs).toISOString().slice(0, 19) !== whole)
    return undefined;
  const localMs = wholeMs + Math.floor(Number(`0.${fraction}`) * 1_000);
  const [utc, sign, hours, minutes] = zone;
  if (utc !== undefined) return { localMs, offsetMs: 0 };
  if (sign === undefined) return { localMs, offsetMs: undefined };
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * minuteMs;
  return { localMs, offsetMs: sign === '-' ? -offsetMs : offsetMs };
}

/** An IANA time zone. */
export interface TimeZone {
  /** The difference to UTC at a time. */
  offsetMs(timeMs: number): number;
}

/** Undefined: the platform knows no such time zone. */
export function timeZoneOf(name: string): TimeZone | undefined {
  if (name === 'UTC') return { offsetMs: () => 0 };
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  } catch {
    // The platform's message repeats the name.
    return undefined;
  }
  return {
    offsetMs(timeMs) {
      const part = format.formatToParts(timeMs).find(({ type }) => type === 'timeZoneName');
      const [, sign, hours = '0', minutes = '0', seconds = '0'] =
        /([+-])(\d+)(?::(\d+))?(?::(\d+))?$/.exec(part?.value ?? '') ?? [];
      const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
      return sign === '-' ? -ms : ms;
    },
  };
}

/**
 * The time at which clocks of a zone show this. If they do so twice, the first time; if they skip it, the time that
 * would be shown without the change.
 */
export function timeOfLocal(localMs: number, zone: TimeZone): number {
  const before = zone.offsetMs(localMs - dayMs);
  const after = zone.offsetMs(localMs + dayMs);
  const times = [before, after]
    .filter((offset) => zone.offsetMs(localMs - offset) === offset)
    .map((offset) => localMs - offset);
  return times.length === 0 ? localMs - before : Math.min(...times);
}
