import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { fieldOf, isJsonList, type MutableJsonObject, setField } from '../json-fields.ts';
import { isForbiddenNull, type StructuralSchema, schemaOfField } from './structural-schema.ts';

/** The object with the defaults of its schema, also in place of nulls that it does not allow. */
export function fillDefaults(schema: StructuralSchema, object: JsonObject): JsonObject {
  return fillFields(schema, object);
}

function fillValue(schema: StructuralSchema | undefined, value: Json): Json {
  if (schema === undefined) return value;
  if (isJsonList(value)) return fillItems(schema, value);
  return isJsonObject(value) ? fillFields(schema, value) : value;
}

function fillItems(schema: StructuralSchema, items: readonly Json[]): readonly Json[] {
  const { items: itemSchema } = schema;
  if (itemSchema === undefined) return items;
  const filled = items.map((item) => {
    const isReplaced = isForbiddenNull(item, itemSchema) && itemSchema.default !== undefined;
    return fillValue(itemSchema, isReplaced ? (itemSchema.default ?? null) : item);
  });
  return filled.every((item, index) => item === items[index]) ? items : filled;
}

/** Shares everything that stays as it is. */
function fillFields(schema: StructuralSchema, object: JsonObject): JsonObject {
  const changes = new Map<string, Json>();
  for (const [name, known] of Object.entries(schema.properties ?? {})) {
    if (known.default === undefined) continue;
    const value = fieldOf(object, name);
    if (value === undefined || isForbiddenNull(value, known)) changes.set(name, known.default);
  }
  for (const name of new Set([...Object.keys(object), ...changes.keys()])) {
    const value = changes.get(name) ?? fieldOf(object, name) ?? null;
    const known = schemaOfField(schema, name);
    const isReplaced = isForbiddenNull(value, known) && known?.default !== undefined;
    const filled = fillValue(known, isReplaced ? (known.default ?? null) : value);
    if (filled !== fieldOf(object, name)) changes.set(name, filled);
  }
  if (changes.size === 0) return object;
  const copy: MutableJsonObject = {};
  for (const [name, value = null] of Object.entries(object)) setField(copy, name, value);
  for (const [name, value] of changes) setField(copy, name, value);
  return copy;
}
