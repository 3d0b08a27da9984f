import { printableLine } from '#util/printable-text.ts';

/** Columns of text, three blanks between them, as kubectl prints them. */
export function tableLines(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const all = [header, ...rows];
  const widths = columnWidths(all);
  return all.map((row) => tableLine(row, widths));
}

/** The widths of the columns of these rows. */
export function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const [header = []] = rows;
  return header.map((_, at) => Math.max(...rows.map((row) => printableLine(row[at] ?? '').length)));
}

/** One line, whatever the cells contain. */
export function tableLine(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, at) => printableLine(cell).padEnd(widths[at] ?? 0))
    .join('   ')
    .trimEnd();
}

/** A rounded age: `5s`, `3m`, `2h`, `4d`. */
export function ageText(timestamp: unknown, nowMs: number): string {
  const then = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(then)) return '<unknown>';
  const seconds = Math.max(0, Math.round((nowMs - then) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
