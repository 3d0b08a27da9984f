import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject, pointerSteps } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { fieldOf, isJsonList, type MutableJsonObject } from '../json-fields.ts';
import { badRequest, entityTooLarge } from '../status/api-errors.ts';
import { StatusError } from '../status/status-error.ts';

const maxOperations = 10_000;

/**
 * Applies an RFC 6902 patch.
 * @throws StatusError 400 for an invalid patch, 422 for one that cannot be applied, 413 for too many operations
 */
export function applyJsonPatch(document: JsonObject, patch: Json): Json {
  if (!isJsonList(patch))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${isJsonObject(patch) ? 'object' : typeof patch} into Go value of type []handlers.jsonPatchOp`,
    );
  if (patch.length > maxOperations) {
    const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`;
    throw entityTooLarge(`Request entity is too large: ${message}`);
  }
  let patched: Json = document;
  for (const operation of patch) patched = applyOperation(patched, readOperation(operation));
  return patched;
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: Json | undefined;
}

function readOperation(operation: Json): Operation {
  const fields = isJsonObject(operation) ? operation : {};
  const text = (name: string) => String(fieldOf(fields, name) ?? '');
  return {
    op: text('op'),
    path: text('path'),
    from: text('from'),
    value: fieldOf(fields, 'value'),
  };
}

function applyOperation(document: Json, operation: Operation): Json {
  const { op, path, from, value } = operation;
  switch (op) {
    case 'add':
      return change(document, { op, path, value: value ?? null });
    case 'remove':
      return change(document, { op, path, value: undefined });
    case 'replace':
      return change(document, { op, path, value: value ?? null });
    case 'move': {
      const moved = read(document, from, op);
      const without = change(document, { op: 'remove', path: from, value: undefined });
      return change(without, { op: 'add', path, value: moved });
    }
    case 'copy':
      return change(document, { op: 'add', path, value: readToCopy(document, from) });
    case 'test': {
      const found = find(document, path);
      if (deepEqual(found ?? null, value ?? null)) return document;
      throw patchFailed(`testing value ${path} failed: test failed`);
    }
    default:
      throw patchFailed(`Unexpected kind: ${op}`);
  }
}

/** The server's message does not contain the reason; `why` only documents this code. */
function patchFailed(why: string): StatusError {
  const message = 'the server rejected our request due to an error in our request';
  const cause = new Error(why);
  return new StatusError({ code: 422, reason: 'Invalid', message, details: {}, cause });
}

function find(document: Json, path: string): Json | undefined {
  let value: Json | undefined = document;
  for (const step of pointerSteps(path))
    value = value === undefined ? undefined : child(value, step);
  return value;
}

function child(value: Json, step: string): Json | undefined {
  if (isJsonList(value)) return value[itemIndex(value, step) ?? -1];
  return isJsonObject(value) ? fieldOf(value, step) : undefined;
}

function read(document: Json, path: string, op: string): Json {
  const value = find(document, path);
  if (value === undefined)
    throw patchFailed(
      `${op} operation does not apply: doc is missing from path: ${path}: missing value`,
    );
  return value;
}

/** A missing field is copied as null, if its parent exists. */
function readToCopy(document: Json, path: string): Json {
  const value = find(document, path);
  if (value !== undefined) return value;
  const parent = find(document, path.slice(0, path.lastIndexOf('/')));
  if (isJsonObject(parent)) return null;
  throw patchFailed(
    `copy operation does not apply: doc is missing from path: ${path}: missing value`,
  );
}

interface Change {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  /** Undefined = remove. */
  readonly value: Json | undefined;
}

function change(document: Json, change: Change): Json {
  const steps = pointerSteps(change.path);
  if (steps.length === 0) return change.value ?? null;
  return changeAt(document, steps, change);
}

function changeAt(value: Json, steps: readonly string[], change: Change): Json {
  const [step = '', ...rest] = steps;
  const { op, path } = change;
  if (rest.length > 0) {
    const below = child(value, step);
    if (below === undefined || (!isJsonObject(below) && !isJsonList(below)))
      throw patchFailed(
        `${op} operation does not apply: doc is missing path: ${JSON.stringify(path)}: missing value`,
      );
    return withChild(value, step, changeAt(below, rest, change));
  }
  if (isJsonList(value)) return changeItem(value, step, change);
  if (!isJsonObject(value))
    throw patchFailed(`${op} operation does not apply: doc is missing path: ${path}`);
  if (op === 'remove' && fieldOf(value, step) === undefined)
    throw patchFailed(
      `error in remove for path: '${path}': Unable to remove nonexistent key: ${step}: missing value`,
    );
  return withChild(value, step, change.value);
}

function withChild(value: Json, step: string, below: Json | undefined): Json {
  if (isJsonList(value)) {
    const index = itemIndex(value, step);
    return value.map((item, at) => (at === index ? (below ?? null) : item));
  }
  const copy: MutableJsonObject = {};
  for (const [name, field = null] of Object.entries(value as JsonObject))
    if (name !== step) setField(copy, name, field);
    else if (below !== undefined) setField(copy, name, below);
  if (below !== undefined && !Object.hasOwn(copy, step)) setField(copy, step, below);
  return copy;
}

function changeItem(items: readonly Json[], step: string, { op, path, value }: Change): Json {
  const index = op === 'add' && step === '-' ? items.length : itemIndex(items, step);
  const limit = op === 'add' ? items.length : items.length - 1;
  if (index === undefined || index > limit)
    throw patchFailed(
      `${op} operation does not apply: doc is missing path: ${path}: invalid index referenced`,
    );
  const removed = op === 'add' ? 0 : 1;
  return items.toSpliced(index, removed, ...(value === undefined ? [] : [value]));
}

/** An index in a list; negative ones count from the end, as in the server's library. */
function itemIndex(items: readonly Json[], step: string): number | undefined {
  if (!/^-?\d+$/.test(step)) return undefined;
  const index = Number(step) < 0 ? Number(step) + items.length : Number(step);
  return index < 0 ? undefined : index;
}

/** Applies an RFC 7386 patch: null removes a field. */
export function applyMergePatch(document: JsonObject, patch: JsonObject): JsonObject {
  const merged: MutableJsonObject = {};
  for (const [name, value = null] of Object.entries(document))
    if (!Object.hasOwn(patch, name)) setField(merged, name, value);
  for (const [name, value = null] of Object.entries(patch)) {
    if (value === null) continue;
    setField(merged, name, mergeField(fieldOf(document, name), value));
  }
  return merged;
}

function mergeField(before: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  return applyMergePatch(isJsonObject(before) ? before : {}, patch);
}
