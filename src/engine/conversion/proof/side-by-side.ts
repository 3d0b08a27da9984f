import { columns } from '#util/columns.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject } from '#util/json.ts';

/** The fields in which two values differ, one a line: path, both values. */
export function sideBySide(before: unknown, after: unknown): string {
  const found = differences(before, after);
  return columns([
    ['field', ...found.map(({ path }) => path)],
    ['before', ...found.map((each) => textOf(each.before))],
    ['after', ...found.map((each) => textOf(each.after))],
  ]).join('\n');
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
