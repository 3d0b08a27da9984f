/** Decides whether a minute is one of a schedule's. */
export type CronSchedule = (time: CronTime) => boolean;

export interface CronTime {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  /** 1 = January. */
  readonly month: number;
  /** 0 = Sunday. */
  readonly weekday: number;
}

const names: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Reads `*\/5 8-18 * * mon-fri`, `@hourly`; undefined for what is no schedule. */
export function parseCronSchedule(text: string): CronSchedule | undefined {
  const fields = (names[text.trim()] ?? text).trim().split(/\s+/);
  const [minute, hour, day, month, weekday] = [
    parseField(fields[0], 0, 59),
    parseField(fields[1], 0, 23),
    parseField(fields[2], 1, 31),
    parseField(named(fields[3], months, 1), 1, 12),
    parseField(named(fields[4], weekdays, 0), 0, 7),
  ];
  if (fields.length !== 5 || !minute || !hour || !day || !month || !weekday) return undefined;
  // Where both days are limited, either will do.
  const isEither = !isOpen(fields[2]) && !isOpen(fields[4]);
  return (time) => {
    const onDay = day.has(time.day);
    const onWeekday = weekday.has(time.weekday) || (time.weekday === 0 && weekday.has(7));
    const isToday = isEither ? onDay || onWeekday : onDay && onWeekday;
    return minute.has(time.minute) && hour.has(time.hour) && month.has(time.month) && isToday;
  };
}

function isOpen(field = ''): boolean {
  return field.startsWith('*') || field === '?';
}

function named(field: string | undefined, list: readonly string[], first: number) {
  return field?.toLowerCase().replaceAll(/[a-z]{3}/g, (name) => {
    const index = list.indexOf(name);
    return index < 0 ? name : String(index + first);
  });
}

/** `*`, `1,2`, `1-5`, `*\/2`, `1-9/3`. */
function parseField(field: string | undefined, least: number, most: number) {
  const values = new Set<number>();
  for (const part of (field ?? '').split(',')) {
    const match = /^(?:\*|\?|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part);
    if (match === null) return undefined;
    const [, from, to, step] = match;
    const start = from === undefined ? least : Number(from);
    const end = to !== undefined ? Number(to) : from === undefined || step ? most : start;
    const by = Number(step ?? 1);
    if (start < least || end > most || start > end || by < 1) return undefined;
    for (let value = start; value <= end; value += by) values.add(value);
  }
  return values;
}
