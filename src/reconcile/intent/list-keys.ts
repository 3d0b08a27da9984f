import type { ListType } from '../../compile/index.ts';
import type { PathStep } from './difference.ts';
import { type Fields, isFields } from './fields.ts';

/** The value of one key field of a list item, with the schema's default where the item does not say it. */
export function keyValue(item: Fields, key: string, list: ListType): unknown {
  const value = item[key];
  const isSaid = value !== undefined && value !== null && !(value === '' && list.builtIn);
  return isSaid ? value : keyDefault(key, list);
}

/** The schema's default of a key field. */
export function keyDefault(key: string, { item }: ListType): unknown {
  return item.kind === 'struct' ? item.fields.get(key)?.byDefault : undefined;
}

/** Are these the same item of a list that is merged by its keys? */
export function haveSameKeys(a: Fields, b: Fields, list: ListType): boolean {
  for (const key of list.keys) {
    if (keyValue(a, key, list) !== keyValue(b, key, list)) return false;
  }
  return true;
}

/** The path step to an item: its keys. */
export function stepTo(item: unknown, list: ListType): PathStep {
  if (!isFields(item)) return { item };
  return { keys: Object.fromEntries(list.keys.map((key) => [key, keyValue(item, key, list)])) };
}

/** Where the live list has the item of ours, or -1. At rest it stands at `expected`. */
export function indexOfItem(
  item: unknown,
  have: readonly unknown[],
  type: ListType,
  expected: number,
): number {
  if (!isFields(item)) return -1;
  if (isItem(item, have[expected], type)) return expected;
  for (let index = 0; index < have.length; index++) {
    if (isItem(item, have[index], type)) return index;
  }
  return -1;
}

function isItem(item: Fields, other: unknown, type: ListType): boolean {
  return isFields(other) && haveSameKeys(item, other, type);
}
