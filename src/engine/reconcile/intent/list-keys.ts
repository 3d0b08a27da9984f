import type { ListType } from '#compile';
import type { FieldStep } from '#util/field-path.ts';
import { type Fields, isFields } from './intent.ts';

/** The value of one key field of a list item, or the schema's default if the item lacks it. */
export function keyValue(item: Fields, key: string, list: ListType): unknown {
  const value = item[key];
  const isSaid = value !== undefined && value !== null && !(value === '' && list.builtIn);
  return isSaid ? value : keyDefault(key, list);
}

/** The schema's default of a key field. */
export function keyDefault(key: string, { item }: ListType): unknown {
  return item.kind === 'struct' ? item.fields.get(key)?.defaultValue : undefined;
}

/** Returns whether two items of a list with merge keys are the same item. */
export function haveSameKeys(a: Fields, b: Fields, list: ListType): boolean {
  for (const key of list.keys) {
    if (keyValue(a, key, list) !== keyValue(b, key, list)) return false;
  }
  return true;
}

/** The path step to an item: its keys. */
export function stepTo(item: unknown, list: ListType): FieldStep {
  if (!isFields(item)) return { item };
  return { keys: Object.fromEntries(list.keys.map((key) => [key, keyValue(item, key, list)])) };
}

/** Index of our item in the live list, or -1. Usually it is `expected`. */
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
