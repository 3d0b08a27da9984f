const unitNs: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3_600e9,
};

const pattern = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;
/** Go stores durations as nanoseconds in 64 bits. */
const largestNs = 2 ** 63;

/** The seconds of a duration as Go writes it: `1m30s`, `1.5h`, `-5ms`, `0`. Undefined for other texts. */
export function parseDurationSeconds(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  // A text of digits without end is no duration, and must not cost time.
  if (text.length > 100 || !pattern.test(text)) return undefined;
  let total = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(part))
    total += Number(amount) * (unitNs[unit] ?? 0);
  if (total >= largestNs) return undefined;
  const seconds = Math.round(total) / 1e9;
  return text.startsWith('-') && seconds !== 0 ? -seconds : seconds;
}

/** Seconds as Go writes a duration: `1m30s`, `1h0m0s`, `1.5s`, `500ms`. Undefined beyond its range. */
export function formatDuration(seconds: number): string | undefined {
  const total = Math.abs(seconds);
  if (!(total < largestNs / 1e9)) return undefined;
  if (total === 0) return '0s';
  const sign = seconds < 0 ? '-' : '';
  if (total < 1) return sign + belowOneSecond(Math.round(total * 1e9));
  const whole = Math.floor(total);
  const hours = Math.floor(whole / 3_600);
  const minutes = Math.floor((whole % 3_600) / 60);
  const rest = `${decimal((whole % 60) + Number((total - whole).toFixed(9)))}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${sign}${minutes}m${rest}` : sign + rest;
}

function belowOneSecond(ns: number): string {
  if (ns >= 1e6) return `${decimal(ns / 1e6)}ms`;
  return ns >= 1e3 ? `${decimal(ns / 1e3)}µs` : `${ns}ns`;
}

function decimal(value: number): string {
  return value.toFixed(9).replace(/\.?0+$/, '');
}
