import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject } from '#util/json.ts';

/** The fields in which two values differ, one a line: path, both values. */
export function sideBySide(before: unknown, after: unknown): string {
  const rows = [
    ['field', 'before', 'after'],
    ...differences(before, after).map((each) => [
      each.path,
      textOf(each.before),
      textOf(each.after),
    ]),
  ];
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = [width(0), width(1)];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}

export interface FieldDifference {
  /** As `spec.rules[0].port`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The fields in which two values differ. */
export function differences(
  before: unknown,
  after: unknown,
  path = '',
): readonly FieldDifference[] {
  if (deepEqual(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item, index) => differences(item, after[index], `${path}[${index}]`));
  if (isJsonObject(before) && isJsonObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) =>
      differences(before[name], after[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return [{ path, before, after }];
}

function textOf(value: unknown): string {
  return value === undefined ? '(none)' : JSON.stringify(value);
}
