import type { Template } from '#definition';
import { isJsonObject } from '#util/json.ts';

/**
 * A template with sorted keys at every level, for what expressions see of it. An API server returns a definition in this order, and the order
 * is no part of the revision: `$string(vars.settings)` must not depend on where a revision was read.
 */
export function withSortedKeys(tree: Template): Template {
  if (Array.isArray(tree)) return tree.map(withSortedKeys);
  if (!isJsonObject(tree)) return tree;
  const entries = Object.entries(tree).map(([key, value]) => [key, withSortedKeys(value)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
