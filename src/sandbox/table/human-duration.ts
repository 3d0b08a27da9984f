const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** A span of time as tables tell it: two units while it is short, then one. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (ms < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return twoUnits(seconds, [minute, 'm'], [1, 's']);
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return twoUnits(seconds, [hour, 'h'], [minute, 'm']);
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return twoUnits(seconds, [day, 'd'], [hour, 'h']);
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * year) return twoUnits(seconds, [year, 'y'], [day, 'd']);
  return `${Math.floor(seconds / year)}y`;
}

type Unit = readonly [seconds: number, name: string];

function twoUnits(seconds: number, [large, name]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((seconds % large) / small);
  const whole = `${Math.floor(seconds / large)}${name}`;
  return rest === 0 ? whole : `${whole}${rest}${smallName}`;
}
