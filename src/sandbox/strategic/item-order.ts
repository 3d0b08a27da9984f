import { HomeostatError } from '#util/homeostat-error.ts';
import { isJsonObject, type Json } from '#util/json.ts';
import type { MergeComponents, MergeSchema } from '../apply/field-type-builder.ts';
import { goText } from '../go-value.ts';
import { fieldOf } from '../json-fields.ts';

/** The identity of a list item: the value of its merge key, or the item itself. */
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

interface OrderOptions {
  readonly mergeKey: string;
  /** The order of the items in the patch. */
  readonly patch: readonly Json[];
  /** The order of the items in the original. */
  readonly original: readonly Json[];
}

/** Sorts merged items: those of the patch in its order, the others next to their original neighbours. */
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
    const [retainedItem, patchedItem] = [kept[0], patched[0]];
    const isNext =
      patchedItem === undefined ||
      (retainedItem !== undefined && wasBefore(original, { retainedItem, patchedItem, mergeKey }));
    const next = isNext ? kept.shift() : patched.shift();
    if (next !== undefined) ordered.push(next);
  }
  return ordered;
}

interface Neighbours {
  readonly retainedItem: Json;
  readonly patchedItem: Json;
  readonly mergeKey: string;
}

function wasBefore(
  original: readonly Json[],
  { retainedItem, patchedItem, mergeKey }: Neighbours,
): boolean {
  const [a, b] = [retainedItem, patchedItem].map((item) => indexOfItem(original, item, mergeKey));
  return a !== undefined && b !== undefined && a >= 0 && b >= 0 && a < b;
}

function sortedLike(items: readonly Json[], order: readonly Json[], mergeKey: string): Json[] {
  return items.toSorted(
    (a, b) => indexOfItem(order, a, mergeKey) - indexOfItem(order, b, mergeKey),
  );
}

/** @throws StrategicError when the items of a patch are not in the order that the patch sets */
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

/** A patch that cannot be merged, with the server's message. */
export class StrategicError extends HomeostatError<'unmergeable'> {
  /** True when the patch itself is invalid. The server reports all other errors differently. */
  readonly isMalformed: boolean;
  constructor(message: string, isMalformed = false) {
    super('unmergeable', message);
    this.isMalformed = isMalformed;
  }
}

/** How a field of a built-in kind is patched. */
export interface PatchField {
  /** Lists are merged by item, objects by field; otherwise the patch replaces them. */
  readonly isMerged: boolean;
  /** The field that identifies items of a list; empty = items are plain values. */
  readonly mergeKey: string;
  /** The schema of the field, or of the items of its list. */
  readonly schema: PatchSchema;
}

/** What a strategic merge patch needs from an object's schema. */
export interface PatchSchema {
  /** For messages: `Deployment`. */
  readonly name: string;
  /** Undefined = the object has no such field. */
  field(name: string): PatchField | undefined;
}

/** Reads the patch strategies of a schema from OpenAPI. */
export function patchSchemaOf(components: MergeComponents, schema: MergeSchema): PatchSchema {
  const { name, whole } = resolve(components, schema);
  return {
    name,
    field(field) {
      const own = whole.properties?.[field] ?? additional(whole);
      return own === undefined ? undefined : patchField(components, own);
    },
  };
}

function patchField(components: MergeComponents, own: MergeSchema): PatchField {
  const strategies = (own['x-kubernetes-patch-strategy'] ?? '').split(',');
  const { whole } = resolve(components, own);
  const isList = whole.type === 'array';
  return {
    isMerged: isList ? strategies.includes('merge') : !strategies.includes('replace'),
    mergeKey: own['x-kubernetes-patch-merge-key'] ?? '',
    schema: patchSchemaOf(components, isList ? (whole.items ?? {}) : own),
  };
}

function additional({ additionalProperties }: MergeSchema): MergeSchema | undefined {
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function resolve(components: MergeComponents, schema: MergeSchema) {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference === undefined) return { name: '', whole: schema };
  const component = reference.slice(reference.lastIndexOf('/') + 1);
  const name = component.slice(component.lastIndexOf('.') + 1);
  return { name, whole: components[component] ?? {} };
}
