import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { fieldOf, isJsonList, type MutableJsonObject } from '../json-fields.ts';

/** The schema of a CRD, with the keywords that the server uses for pruning, defaulting and validation. */
export interface StructuralSchema {
  readonly type?: string;
  readonly format?: string;
  readonly default?: Json;
  readonly nullable?: boolean;
  readonly enum?: readonly Json[];
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly StructuralSchema[];
  readonly anyOf?: readonly StructuralSchema[];
  readonly oneOf?: readonly StructuralSchema[];
  readonly not?: StructuralSchema;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** Fields of every object that its schema need not declare. */
export const objectMetaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** The schema of a field, from `properties` or `additionalProperties`. */
export function schemaOfField(
  schema: StructuralSchema | undefined,
  name: string,
): StructuralSchema | undefined {
  const { properties, additionalProperties } = schema ?? {};
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Returns whether the value is null and the schema does not allow it. */
function isForbiddenNull(value: Json | undefined, schema: StructuralSchema | undefined) {
  return value === null && schema !== undefined && schema.nullable !== true;
}

/** An applied null of a field of any type removes the field; others are rejected. */
export function isUntypedNull(value: Json | undefined, schema: StructuralSchema | undefined) {
  const isTyped = schema?.type !== undefined || schema?.['x-kubernetes-int-or-string'] === true;
  return isForbiddenNull(value, schema) && !isTyped;
}

/** The object with the defaults of its schema, also in place of nulls that are not allowed. */
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

/** Shares everything that stays unchanged. */
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

interface Pruned {
  readonly object: JsonObject;
  /** Paths of the removed fields that the schema does not have, sorted. */
  readonly unknownFields: readonly string[];
}

/** Removes the fields of a custom resource that its schema does not have; ignores apiVersion, kind and metadata. */
export function pruneObject(schema: StructuralSchema, object: JsonObject): Pruned {
  const unknown: string[] = [];
  const root = { ...schema, 'x-kubernetes-embedded-resource': true };
  const pruned = pruneValue({ schema: root, value: object, path: '' }, unknown);
  return { object: pruned as JsonObject, unknownFields: unknown.sort() };
}

interface Place {
  readonly schema: StructuralSchema | undefined;
  readonly value: Json;
  readonly path: string;
}

function pruneValue({ schema, value, path }: Place, unknown: string[]): Json {
  if (isJsonList(value)) {
    const keeps = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
    if (keeps && schema?.items === undefined) return value;
    return value.map((item, index) =>
      pruneValue({ schema: schema?.items, value: item, path: `${path}[${index}]` }, unknown),
    );
  }
  return isJsonObject(value) ? pruneFields({ schema, value, path }, unknown) : value;
}

function pruneFields(place: Place & { readonly value: JsonObject }, unknown: string[]): JsonObject {
  const { schema, value, path } = place;
  const kept: MutableJsonObject = {};
  for (const [name, field = null] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    const isMetaField =
      schema?.['x-kubernetes-embedded-resource'] === true && objectMetaFields.has(name);
    const known = isMetaField ? undefined : schemaOfField(schema, name);
    if (known !== undefined)
      setField(kept, name, pruneValue({ schema: known, value: field, path: at }, unknown));
    else if (isMetaField || schema?.['x-kubernetes-preserve-unknown-fields'] === true)
      setField(kept, name, field);
    else if (schema?.additionalProperties === true)
      setField(kept, name, pruneValue({ schema: undefined, value: field, path: at }, unknown));
    else unknown.push(at);
  }
  return kept;
}

/** Removes nulls that the schema does not allow and no default replaces. */
export function dropNulls(
  schema: StructuralSchema | undefined,
  value: Json,
  drops: typeof isForbiddenNull = isForbiddenNull,
): Json {
  if (isJsonList(value)) return value.map((item) => dropNulls(schema?.items, item, drops));
  if (!isJsonObject(value)) return value;
  const kept: MutableJsonObject = {};
  for (const [name, field = null] of Object.entries(value)) {
    const known = schemaOfField(schema, name);
    if (drops(field, known) && known?.default === undefined) continue;
    setField(kept, name, dropNulls(known, field, drops));
  }
  return kept;
}
