import { isJsonObject, type Json } from '../../util/json.ts';
import { goText } from '../go-value.ts';
import { fieldOf } from '../json-fields.ts';
import { StrategicError } from './strategic-error.ts';

/** What tells an item of a list from the others: the value of its key, or the item itself. */
export function itemKey(item: Json, mergeKey: string): Json {
  if (mergeKey === '') return item;
  const key = isJsonObject(item) ? fieldOf(item, mergeKey) : undefined;
  if (key !== undefined) return key;
  throw new StrategicError(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
}

export function indexOfItem(list: readonly Json[], item: Json, mergeKey: string): number {
  const key = itemKey(item, mergeKey);
  return list.findIndex((other) => itemKey(other, mergeKey) === key);
}

export interface OrderOptions {
  readonly mergeKey: string;
  /** The order of what the patch speaks of. */
  readonly patch: readonly Json[];
  /** The order of what was there. */
  readonly original: readonly Json[];
}

/** Merged items in order: those of the patch as the patch has them, the others where they were beside them. */
export function inOrder(merged: readonly Json[], options: OrderOptions): readonly Json[] {
  const { mergeKey, patch, original } = options;
  const isPatched = (item: Json) => indexOfItem(patch, item, mergeKey) >= 0;
  const patched = sortedLike(merged.filter(isPatched), patch, mergeKey);
  const kept = sortedLike(
    merged.filter((item) => !isPatched(item)),
    original,
    mergeKey,
  );
  const ordered: Json[] = [];
  while (kept.length > 0 || patched.length > 0) {
    const [mine, theirs] = [kept[0], patched[0]];
    const isNext =
      theirs === undefined ||
      (mine !== undefined && stoodBefore(original, { mine, theirs, mergeKey }));
    const next = isNext ? kept.shift() : patched.shift();
    if (next !== undefined) ordered.push(next);
  }
  return ordered;
}

interface Neighbours {
  readonly mine: Json;
  readonly theirs: Json;
  readonly mergeKey: string;
}

function stoodBefore(original: readonly Json[], { mine, theirs, mergeKey }: Neighbours): boolean {
  const [a, b] = [mine, theirs].map((item) => indexOfItem(original, item, mergeKey));
  return a !== undefined && b !== undefined && a >= 0 && b >= 0 && a < b;
}

function sortedLike(items: readonly Json[], order: readonly Json[], mergeKey: string): Json[] {
  return items.toSorted(
    (a, b) => indexOfItem(order, a, mergeKey) - indexOfItem(order, b, mergeKey),
  );
}

/** @throws StrategicError when the items of a patch are not in the order that it asks for. */
export function assertOrder(
  patch: readonly Json[],
  order: readonly Json[],
  mergeKey: string,
): void {
  if (order.length === 0) return;
  let at = 0;
  for (const item of patch) {
    if (isJsonObject(item) && Object.hasOwn(item, '$patch')) continue;
    const key = itemKey(item, mergeKey);
    while (at < order.length && itemKey(order[at] ?? null, mergeKey) !== key) at++;
    if (at === order.length)
      throw new StrategicError(
        `The order in patch list:\n${goText(patch)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`,
      );
    at++;
  }
}
