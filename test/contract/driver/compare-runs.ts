import assert from 'node:assert/strict';
import { isJsonObject, type Json } from '#util/json.ts';
import type { StepRecord } from './run-case.ts';

/**
 * `never`: dotted paths that are compared nowhere.
 * @throws AssertionError when two servers answered differently, beyond what a case says.
 */
export function assertSameRuns(
  mine: readonly StepRecord[],
  theirs: readonly StepRecord[],
  never: readonly string[] = [],
): void {
  assert.equal(mine.length, theirs.length);
  for (const [index, record] of mine.entries()) {
    const other = theirs[index];
    assert.ok(other !== undefined);
    const { differs = {}, byChance = [], step } = record;
    const paths = [...Object.keys(differs), ...byChance, ...never];
    if (paths.includes('')) continue;
    const [a, b] = [without(record, paths), without(other, paths)];
    assert.deepEqual(a, b, `${step}\n${smallestDifferences(a, b)}`);
  }
}

function without(record: StepRecord, paths: readonly string[]): Json {
  let body = record.body;
  for (const path of paths) body = withoutPath(body, path.split('.'));
  const { status } = record;
  const warning = paths.includes('warning') ? undefined : record.warning;
  return { status, body, ...(warning === undefined ? {} : { warning }) };
}

/** `*` = every item of a list. */
function withoutPath(value: Json, [name = '', ...rest]: readonly string[]): Json {
  if (Array.isArray(value))
    return value.map((item, index) =>
      name === '*' || name === String(index) ? withoutPath(item, rest) : item,
    );
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return value;
  const { [name]: field = null, ...others } = value;
  return rest.length === 0 ? others : { ...others, [name]: withoutPath(field, rest) };
}

/** The smallest places that differ, one a line. */
export function smallestDifferences(a: Json | undefined, b: Json | undefined, path = ''): string {
  if (isJsonObject(a) && isJsonObject(b)) {
    const names = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...names]
      .map((name) => smallestDifferences(a[name], b[name], `${path}.${name}`))
      .join('');
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length)
    return a
      .map((item, index) => smallestDifferences(item, b[index], `${path}[${index}]`))
      .join('');
  if (JSON.stringify(a) === JSON.stringify(b)) return '';
  return `  ${path}\n    sandbox: ${JSON.stringify(a)}\n    server:  ${JSON.stringify(b)}\n`;
}
