/** A time, and the difference to UTC of its zone at that time. */
interface ZonedTime {
  readonly ms: number;
  readonly offsetMs: number;
}

const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const dayMs = 86_400_000;

/** The parts of a layout, as of `date` and of strftime in the locale C. `local`: shows the local time in its UTC fields. */
const parts: Readonly<Record<string, (local: Date, time: ZonedTime) => string>> = {
  '%': () => '%',
  Y: (local) => padded(local.getUTCFullYear(), 4),
  y: (local) => padded(local.getUTCFullYear() % 100, 2),
  m: (local) => padded(local.getUTCMonth() + 1, 2),
  d: (local) => padded(local.getUTCDate(), 2),
  e: (local) => String(local.getUTCDate()).padStart(2),
  j: (local) => padded(dayOfYear(local), 3),
  H: (local) => padded(local.getUTCHours(), 2),
  I: (local) => padded(local.getUTCHours() % 12 || 12, 2),
  p: (local) => (local.getUTCHours() < 12 ? 'AM' : 'PM'),
  M: (local) => padded(local.getUTCMinutes(), 2),
  S: (local) => padded(local.getUTCSeconds(), 2),
  L: (local) => padded(local.getUTCMilliseconds(), 3),
  B: (local) => months[local.getUTCMonth()] ?? '',
  b: (local) => (months[local.getUTCMonth()] ?? '').slice(0, 3),
  A: (local) => weekdays[local.getUTCDay()] ?? '',
  a: (local) => (weekdays[local.getUTCDay()] ?? '').slice(0, 3),
  u: (local) => String(local.getUTCDay() || 7),
  z: (_, { offsetMs }) => offsetText(offsetMs),
  s: (_, { ms }) => String(Math.floor(ms / 1_000)),
  F: (local) => local.toISOString().slice(0, 10),
  T: (local) => local.toISOString().slice(11, 19),
};

/** The time in a layout; undefined if the layout has unknown parts. */
export function formatTime(layout: string, time: ZonedTime): string | undefined {
  if (unknownPart(layout) !== undefined) return undefined;
  const local = new Date(time.ms + time.offsetMs);
  return layout.replace(/%(.)/gsu, (_, name: string) => parts[name]?.(local, time) ?? '');
}

/** How long a text of a layout stays the same at least, apart from changes of the clocks; for days and longer one hour. */
export function stepOfLayout(layout: string): number {
  const steps: readonly (readonly [RegExp, number])[] = [
    [/%L/, 1],
    [/%[STs]/, 1_000],
    [/%M/, 60_000],
  ];
  return steps.find(([part]) => part.test(layout))?.[1] ?? 3_600_000;
}

/** Why a layout is invalid; undefined if it is valid. */
export function layoutReason(layout: string): string | undefined {
  const unknown = unknownPart(layout);
  if (unknown === undefined) return undefined;
  const known = Object.keys(parts).map((name) => `%${name}`);
  return `Expected a layout of ${known.join(' ')}, found "${unknown}"`;
}

function unknownPart(layout: string): string | undefined {
  const written = layout.match(/%(?:.|$)/gsu) ?? [];
  return written.find((part) => !Object.hasOwn(parts, part.slice(1)));
}

function dayOfYear(local: Date): number {
  const first = new Date(local);
  first.setUTCMonth(0, 1);
  return Math.floor(local.getTime() / dayMs) - Math.floor(first.getTime() / dayMs) + 1;
}

function offsetText(offsetMs: number): string {
  const minutes = Math.trunc(Math.abs(offsetMs) / 60_000);
  const sign = offsetMs < 0 ? '-' : '+';
  return sign + padded(Math.floor(minutes / 60), 2) + padded(minutes % 60, 2);
}

function padded(number: number, width: number): string {
  return String(number).padStart(width, '0');
}
