import { canonicalJson } from '#util/canonical-json.ts';
import { isJsonObject, type Json } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { fieldOf, isJsonList, type MutableJsonObject } from '../json-fields.ts';
import { duplicateField, type FieldError, invalidField } from '../status/field-error.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** Reports duplicate items of a set or list map. */
export function validateLists(
  schema: StructuralSchema | undefined,
  value: Json,
  path = '',
): readonly FieldError[] {
  if (schema === undefined) return [];
  if (isJsonList(value)) {
    const inner = value.flatMap((item, index) =>
      validateLists(schema.items, item, `${path}[${index}]`),
    );
    return [...duplicates(schema, value, path), ...inner];
  }
  if (!isJsonObject(value)) return [];
  const { properties = {}, additionalProperties } = schema;
  return Object.entries(value).flatMap(([name, field = null]) => {
    if (Object.hasOwn(properties, name))
      return validateLists(properties[name], field, path === '' ? name : `${path}.${name}`);
    if (typeof additionalProperties !== 'object') return [];
    return validateLists(additionalProperties, field, `${path}[${name}]`);
  });
}

function duplicates(
  schema: StructuralSchema,
  items: readonly Json[],
  path: string,
): readonly FieldError[] {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return repeated(items).map((index) =>
        duplicateField(`${path}[${index}]`, items[index] ?? null),
      );
    case 'map':
      return duplicateKeys(schema['x-kubernetes-list-map-keys'] ?? [], items, path);
    default:
      return [];
  }
}

function duplicateKeys(
  names: readonly string[],
  items: readonly Json[],
  path: string,
): readonly FieldError[] {
  const wrong = items.findIndex((item) => item !== null && !isJsonObject(item));
  if (wrong >= 0) {
    const detail = 'must be an object for an array of list-type map';
    return [invalidField(`${path}[${wrong}]`, items[wrong], detail)];
  }
  const keys = items.map((item) => keyOf(names, item));
  return repeated(keys).map((index) => duplicateField(`${path}[${index}]`, keys[index] ?? null));
}

function keyOf(names: readonly string[], item: Json): Json {
  const key: MutableJsonObject = {};
  if (!isJsonObject(item)) return key;
  for (const name of names) {
    const value = fieldOf(item, name);
    if (value !== undefined) setField(key, name, value);
  }
  return key;
}

/** The indices of duplicates: the second of equal items. */
function repeated(items: readonly Json[]): readonly number[] {
  const counts = new Map<string, number>();
  const places: number[] = [];
  for (const [index, item] of items.entries()) {
    const text = canonicalJson(item);
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    if (count === 2) places.push(index);
  }
  return places;
}
