import type { FieldPath } from '../../compile/index.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject } from '../../util/json.ts';

/** The value at a path; a list on the way gives the list of what its items have there. */
export function valueAt(object: unknown, path: FieldPath): unknown {
  let value = object;
  for (const [index, step] of path.entries()) {
    // Lists within lists are given whole: they may be nested as deep as JSON can be.
    if (Array.isArray(value)) {
      const rest = path.slice(index);
      return value.map((item) => (Array.isArray(item) ? item : valueAt(item, rest)));
    }
    if (!isJsonObject(value)) return undefined;
    value = value[step];
  }
  return value;
}

/** The first of the paths at which two objects differ; undefined when they agree on all of them. */
export function differingPath(
  before: unknown,
  after: unknown,
  paths: readonly FieldPath[],
): FieldPath | undefined {
  if (before === after) return undefined;
  return paths.find((path) => !deepEqual(valueAt(before, path), valueAt(after, path)));
}
