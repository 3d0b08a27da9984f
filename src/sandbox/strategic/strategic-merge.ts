import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { goText } from '../go-value.ts';
import { fieldOf, isJsonList, withField } from '../json-fields.ts';
import {
  assertOrder,
  indexOfItem,
  inOrder,
  itemKey,
  type PatchField,
  type PatchSchema,
  StrategicError,
} from './item-order.ts';

const directive = '$patch';
const retainKeys = '$retainKeys';
const orderPrefix = '$setElementOrder/';
const deletionPrefix = '$deleteFromPrimitiveList/';

/** Merges a patch into an object, with lists merged by item where the schema says so. @throws StrategicError */
export function strategicMerge(
  original: JsonObject,
  patch: JsonObject,
  schema: PatchSchema,
): JsonObject {
  const directiveValue = fieldOf(patch, directive);
  if (directiveValue !== undefined) return directed(directiveValue, patch);
  const { rest, kept } = withRetainedKeys(original, patch);
  const ordered = withOrderedLists(kept, rest, schema);
  let merged = ordered.merged;
  for (const [name, value = null] of Object.entries(ordered.rest)) {
    if (name.startsWith(orderPrefix)) continue;
    const isDeletion = name.startsWith(deletionPrefix);
    const field = isDeletion ? name.slice(deletionPrefix.length) : name;
    merged = withMergedField(merged, { field, value, isDeletion, schema });
  }
  return merged;
}

function directed(directiveValue: Json, patch: JsonObject): JsonObject {
  if (directiveValue === 'replace') return withField(patch, directive, undefined);
  if (directiveValue === 'delete') return {};
  throw new StrategicError(
    `unknown patch type: ${goText(directiveValue)} in map: ${goText(patch)}`,
  );
}

/** A patch may list the fields to retain; it must not set any others. */
function withRetainedKeys(original: JsonObject, patch: JsonObject) {
  const keys = fieldOf(patch, retainKeys);
  if (keys === undefined) return { rest: patch, kept: original };
  const rest = withField(patch, retainKeys, undefined);
  const isAllowed = ([name, value]: readonly [string, Json | undefined]) =>
    value !== null && !name.startsWith(orderPrefix) && !name.startsWith(deletionPrefix);
  const names = Object.entries(rest).filter(isAllowed);
  if (!isJsonList(keys) || !names.every(([name]) => keys.includes(name)))
    throw new StrategicError('invalid patch format of retainKeys', true);
  const dropped = Object.keys(original).filter((name) => !keys.includes(name));
  const kept = dropped.reduce((object, name) => withField(object, name, undefined), original);
  return { rest, kept };
}

/** Lists with an order in the patch are merged first. */
function withOrderedLists(original: JsonObject, patch: JsonObject, schema: PatchSchema) {
  let [merged, rest] = [original, patch];
  for (const [name, order = null] of Object.entries(patch)) {
    if (!name.startsWith(orderPrefix)) continue;
    const field = name.slice(orderPrefix.length);
    const list = orderedList({ original, patch, schema, field, order });
    if (list !== undefined) merged = withField(merged, field, list);
    rest = withField(rest, field, undefined);
  }
  return { merged, rest };
}

interface OrderedList {
  readonly original: JsonObject;
  readonly patch: JsonObject;
  readonly schema: PatchSchema;
  readonly field: string;
  readonly order: Json;
}

function orderedList({ original, patch, schema, field, order }: OrderedList) {
  const [before, change] = [fieldOf(original, field), fieldOf(patch, field)];
  if (!isJsonList(order))
    throw new StrategicError('invalid patch format of setElementOrder list', true);
  if (before === undefined && change === undefined) return undefined;
  const found = patchFieldOf(schema, field);
  const [old, patched] = [listOrEmpty(before), listOrEmpty(change)];
  assertOrder(patched, order, found.mergeKey);
  const merged =
    change === undefined
      ? old
      : before === undefined
        ? patched.filter((item) => !hasDirective(item)).map(withoutDirectives)
        : mergeList(old, { patch: patched, field: found, isDeletion: false });
  const originalOrder = serverOrder(old, patched, found.mergeKey);
  return inOrder(merged, { mergeKey: found.mergeKey, patch: order, original: originalOrder });
}

/**
 * The order that the server takes for that of the original: it deletes and adds items in the same list that it compares with,
 * so that new items take the positions of deleted ones.
 */
function serverOrder(
  original: readonly Json[],
  patch: readonly Json[],
  mergeKey: string,
): readonly Json[] {
  if (mergeKey === '' || patch.some((item) => directiveOf(item) === 'replace')) return original;
  const special = withDirectedItems(original, patch, mergeKey);
  const free = original.length - special.original.length;
  const added = special.patch.filter((item) => indexOfItem(special.original, item, mergeKey) < 0);
  return [...special.original, ...added.slice(0, free)];
}

function directiveOf(item: Json): Json | undefined {
  return isJsonObject(item) ? fieldOf(item, directive) : undefined;
}

function listOrEmpty(value: Json | undefined): readonly Json[] {
  return isJsonList(value) ? value : [];
}

interface FieldPatch {
  readonly field: string;
  readonly value: Json;
  readonly isDeletion: boolean;
  readonly schema: PatchSchema;
}

function withMergedField(original: JsonObject, patch: FieldPatch): JsonObject {
  const { field, value, isDeletion, schema } = patch;
  if (value === null) return withField(original, field, undefined);
  const before = fieldOf(original, field);
  if (isJsonObject(before) && isJsonObject(value)) {
    const found = patchFieldOf(schema, field);
    const merged = found.isMerged ? strategicMerge(before, value, found.schema) : value;
    return withField(original, field, merged);
  }
  if (isJsonList(before) && isJsonList(value)) {
    const found = patchFieldOf(schema, field);
    const merged = mergeField(before, { patch: value, field: found, isDeletion });
    return withField(original, field, merged);
  }
  const isSameType = typeof before === typeof value && before !== null;
  if (before !== undefined && isSameType && typeof before !== 'object')
    return withField(original, field, value);
  if (isDeletion) return original;
  return withField(original, field, hasDirective(value) ? undefined : withoutDirectives(value));
}

function patchFieldOf(schema: PatchSchema, field: string): PatchField {
  const found = schema.field(field);
  if (found !== undefined) return found;
  throw new StrategicError(
    `unable to find api field in struct ${schema.name} for the json field ${JSON.stringify(field)}`,
  );
}

interface ListPatch {
  readonly patch: readonly Json[];
  readonly field: PatchField;
  readonly isDeletion: boolean;
}

function mergeField(original: readonly Json[], patch: ListPatch): readonly Json[] {
  return patch.field.isMerged ? mergeList(original, patch) : patch.patch;
}

function mergeList(original: readonly Json[], { patch, field, isDeletion }: ListPatch) {
  const { mergeKey, schema } = field;
  if (original.length === 0 && patch.length === 0) return original;
  if (!isJsonObject(original[0] ?? patch[0])) {
    if (isDeletion) return original.filter((item) => !patch.includes(item));
    const merged = [...new Set([...original, ...patch])];
    return inOrder(merged, { mergeKey: '', patch, original });
  }
  if (mergeKey === '')
    throw new StrategicError(`cannot merge lists without merge key for ${schema.name}`);
  const special = withDirectedItems(original, patch, mergeKey);
  const merged = [...special.original];
  for (const item of special.patch) {
    const at = indexOfItem(merged, item, mergeKey);
    const before = merged[at];
    if (isJsonObject(before) && isJsonObject(item))
      merged[at] = strategicMerge(before, item, schema);
    // A new item is added unchanged, including directives: unknown fields are pruned later.
    else merged.push(item);
  }
  return inOrder(merged, { mergeKey, patch: special.patch, original: special.original });
}

/** Applies items of a patch that delete an item or replace the list. */
function withDirectedItems(original: readonly Json[], patch: readonly Json[], mergeKey: string) {
  let kept = original;
  let isReplaced = false;
  const plain: Json[] = [];
  for (const item of patch) {
    const directiveValue = directiveOf(item);
    if (directiveValue === undefined) plain.push(item);
    else if (directiveValue === 'replace') isReplaced = true;
    else if (directiveValue === 'delete') {
      const key = itemKey(item, mergeKey);
      kept = kept.filter((other) => itemKey(other, mergeKey) !== key);
    } else if (directiveValue === 'merge')
      throw new StrategicError('merging lists cannot yet be specified in the patch');
    else
      throw new StrategicError(
        `unknown patch type: ${goText(directiveValue)} in map: ${goText(item)}`,
      );
  }
  return isReplaced ? { original: plain, patch: [] } : { original: kept, patch: plain };
}

function hasDirective(value: Json): boolean {
  return isJsonObject(value) && Object.hasOwn(value, directive);
}

/** Values that are added unchanged must have no nulls and no directives. */
function withoutDirectives(value: Json): Json {
  if (isJsonList(value)) return value.filter((item) => !hasDirective(item)).map(withoutDirectives);
  if (!isJsonObject(value)) return value;
  let kept = value;
  for (const [name, field = null] of Object.entries(value)) {
    const isRemoved = field === null || hasDirective(field);
    kept = withField(kept, name, isRemoved ? undefined : withoutDirectives(field));
  }
  return kept;
}
