/** `12 s`, `2 min`, `3 h`, `5 d`: the age of something. Empty: no time. */
export function ageText(time: string | undefined, nowMs: number): string {
  const at = Date.parse(time ?? '');
  if (Number.isNaN(at)) return '';
  const seconds = Math.max(0, Math.round((nowMs - at) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** `14:02:11` of today, `2026-11-24 14:02:11` of another day, in local time. */
export function clockText(time: string, nowMs: number): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return '';
  const clock = joined([at.getHours(), at.getMinutes(), at.getSeconds()], ':');
  const day = dayText(at);
  return day === dayText(new Date(nowMs)) ? clock : `${day} ${clock}`;
}

/** `2026-11-24 14:02:11 UTC+01:00`: a time that can be compared with logs, whatever the time zone of the reader. */
export function momentText(time: string): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return '';
  const offset = -at.getTimezoneOffset();
  const zone = joined([Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60], ':');
  const clock = joined([at.getHours(), at.getMinutes(), at.getSeconds()], ':');
  return `${dayText(at)} ${clock} UTC${offset < 0 ? '-' : '+'}${zone}`;
}

function dayText(at: Date): string {
  return joined([at.getFullYear(), at.getMonth() + 1, at.getDate()], '-');
}

function joined(parts: readonly number[], separator: string): string {
  return parts.map((part) => String(part).padStart(2, '0')).join(separator);
}

/** `1 resource`, `2 resources`. */
export function countText(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** Whether all words are in one of the texts, in any case. */
export function matches(search: string, texts: readonly string[]): boolean {
  if (search === '') return true;
  const all = texts.join('\n').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** `4 ms`, `1.2 s`, `0.3 ms`. */
export function durationText(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms >= 10 || Number.isInteger(ms) ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}
