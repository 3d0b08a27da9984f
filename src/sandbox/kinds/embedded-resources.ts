import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { fieldOf, isJsonList, type MutableJsonObject } from '../json-fields.ts';
import { dnsLabel, pathSegment } from '../metadata/name-rules.ts';
import { validateMetadata } from '../metadata/validate-metadata.ts';
import { DecodeError, goDecode } from '../schema/go-decode.ts';
import type { GoType } from '../schema/go-type-builder.ts';
import { type StructuralSchema, schemaOfField } from '../schema/structural-schema.ts';
import { type FieldError, invalidField, requiredField } from '../status/field-error.ts';

/** Normalises the metadata of all embedded objects in a value. */
export function coerceEmbedded(
  schema: StructuralSchema | undefined,
  value: Json,
  objectMeta: GoType,
): Json {
  if (schema === undefined || !hasEmbedded(schema)) return value;
  if (isJsonList(value)) return value.map((item) => coerceEmbedded(schema.items, item, objectMeta));
  if (!isJsonObject(value)) return value;
  const coerced: MutableJsonObject = {};
  for (const [name, field = null] of Object.entries(value)) {
    const isMeta = schema['x-kubernetes-embedded-resource'] === true && name === 'metadata';
    const inner = isMeta ? coerceMetadata(field, objectMeta) : field;
    setField(coerced, name, coerceEmbedded(schemaOfField(schema, name), inner, objectMeta));
  }
  return coerced;
}

function coerceMetadata(metadata: Json, objectMeta: GoType): Json {
  return isJsonObject(metadata) ? goDecode(objectMeta, metadata, 'metadata').object : metadata;
}

/** Validates the embedded objects in a value. */
export function validateEmbedded(
  schema: StructuralSchema | undefined,
  value: Json,
  path = '',
): readonly FieldError[] {
  if (schema === undefined || !hasEmbedded(schema)) return [];
  if (isJsonList(value))
    return value.flatMap((item, index) =>
      validateEmbedded(schema.items, item, `${path}[${index}]`),
    );
  if (!isJsonObject(value)) return [];
  const own = schema['x-kubernetes-embedded-resource'] === true ? headErrors(value, path) : [];
  const inner = Object.entries(value).flatMap(([name, field = null]) =>
    validateEmbedded(schemaOfField(schema, name), field, path === '' ? name : `${path}.${name}`),
  );
  return [...own, ...inner];
}

function headErrors(value: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['apiVersion', 'kind'] as const) {
    const field = fieldOf(value, name);
    const at = `${path}.${name}`;
    if (field === undefined) errors.push(requiredField(at));
    else if (typeof field !== 'string') errors.push(invalidField(at, field, 'must be a string'));
    else if (field === '') errors.push(invalidField(at, field, 'must not be empty'));
    else if (name === 'kind')
      for (const message of dnsLabel(field.toLowerCase())) {
        const detail = `may have mixed case, but should otherwise match: ${message}`;
        errors.push(invalidField(at, field, detail));
      }
  }
  const metadata = fieldOf(value, 'metadata');
  return isJsonObject(metadata) ? [...errors, ...metadataErrors(metadata, path)] : errors;
}

/** An embedded object needs no name. */
function metadataErrors(metadata: JsonObject, path: string): readonly FieldError[] {
  const rules = {
    namespaced: metadata.namespace !== undefined,
    nameRule: pathSegment,
    strictFinalizers: false,
  };
  const named = { ...metadata, name: metadata.name ?? 'fakename' };
  return validateMetadata(named, rules).map((error) => ({
    ...error,
    field: `${path}.${error.field}`,
  }));
}

/** @throws DecodeError when the metadata has a wrong type */
export function decodeMetadata(objectMeta: GoType, object: JsonObject) {
  const metadata = fieldOf(object, 'metadata') ?? {};
  if (isJsonObject(metadata)) return goDecode(objectMeta, metadata, 'metadata');
  const what = isJsonList(metadata) ? 'array' : typeof metadata;
  throw new DecodeError(`json: cannot unmarshal ${what} into Go value of type v1.ObjectMeta`);
}

/** Most schemas have no embedded objects: their values are not traversed. */
function hasEmbedded(schema: StructuralSchema): boolean {
  const { properties = {}, additionalProperties, items } = schema;
  return (
    schema['x-kubernetes-embedded-resource'] === true ||
    (items !== undefined && hasEmbedded(items)) ||
    (typeof additionalProperties === 'object' && hasEmbedded(additionalProperties)) ||
    Object.values(properties).some(hasEmbedded)
  );
}
