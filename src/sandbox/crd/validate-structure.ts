import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { fieldOf, listField, objectField, stringField } from '../json-fields.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/index.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** What keeps a schema from being a structural one. A subset of the server's rules. */
export function validateStructure(schema: JsonObject, path: string): readonly FieldError[] {
  const type = stringField(schema, 'type') ?? '';
  const root: FieldError[] = [];
  if (type === '') root.push(requiredField(`${path}.type`, 'must not be empty at the root'));
  else if (type !== 'object')
    root.push(invalidField(`${path}.type`, type, 'must be object at the root'));
  return [...root, ...nodeErrors(schema, path, true)];
}

function nodeErrors(schema: JsonObject, path: string, isRoot: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  const type = stringField(schema, 'type') ?? '';
  const isFree =
    schema['x-kubernetes-int-or-string'] === true ||
    schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (fieldOf(schema, '$ref') !== undefined)
    errors.push(forbiddenField(`${path}.$ref`, '$ref is not supported'));
  if (type === '' && !isFree && !isRoot)
    errors.push(requiredField(`${path}.type`, 'must not be empty for specified object fields'));
  else if (type !== '' && !types.includes(type))
    errors.push(unsupportedValue(`${path}.type`, type, types));
  if (schema.uniqueItems === true)
    errors.push(
      forbiddenField(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  if (type === 'array' && objectField(schema, 'items') === undefined)
    errors.push(requiredField(`${path}.items`, 'must be specified'));
  return [...errors, ...listErrors(schema, path), ...childErrors(schema, path)];
}

function childErrors(schema: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const properties = objectField(schema, 'properties') ?? {};
  for (const [name, field] of Object.entries(properties))
    if (isJsonObject(field))
      errors.push(...nodeErrors(field, `${path}.properties[${name}]`, false));
  const items = objectField(schema, 'items');
  if (items !== undefined) errors.push(...nodeErrors(items, `${path}.items`, false));
  const others = objectField(schema, 'additionalProperties');
  if (others !== undefined && Object.keys(properties).length > 0)
    errors.push(
      forbiddenField(
        `${path}.additionalProperties`,
        'additionalProperties and properties are mutual exclusive',
      ),
    );
  if (others !== undefined)
    errors.push(...nodeErrors(others, `${path}.additionalProperties`, false));
  return errors;
}

function listErrors(schema: JsonObject, path: string): readonly FieldError[] {
  const kind = stringField(schema, 'x-kubernetes-list-type');
  if (kind === undefined) return [];
  const field = `${path}.x-kubernetes-list-type`;
  if (!['atomic', 'set', 'map'].includes(kind))
    return [unsupportedValue(field, kind, ['atomic', 'map', 'set'])];
  if (kind !== 'map') return [];
  const keys = listField(schema, 'x-kubernetes-list-map-keys').map(String);
  if (keys.length === 0) {
    const detail = 'must not be empty if x-kubernetes-list-type is map';
    return [requiredField(`${path}.x-kubernetes-list-map-keys`, detail)];
  }
  const items = objectField(schema, 'items') ?? {};
  const properties = objectField(items, 'properties') ?? {};
  const required = listField(items, 'required');
  return keys.flatMap((key) => {
    const property = objectField(properties, key);
    if (property === undefined) {
      const detail = 'entries must all be names of item properties';
      return [invalidField(`${path}.x-kubernetes-list-map-keys`, keys, detail)];
    }
    if (required.includes(key) || property.default !== undefined) return [];
    const detail =
      'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
    return [requiredField(`${path}.items.properties[${key}].default`, detail)];
  });
}
