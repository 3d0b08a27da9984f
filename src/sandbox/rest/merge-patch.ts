import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { fieldOf, type MutableJsonObject, setField } from '../json-fields.ts';

/** Applies an RFC 7386 patch: null removes. */
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
