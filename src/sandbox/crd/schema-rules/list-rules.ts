import { fieldOf, listField, objectField, stringField } from '../../json-fields.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../../status/field-error.ts';
import { isTrue, type SchemaNode } from './schema-node.ts';

const listTypes = ['atomic', 'set', 'map'];
const listTypeKeyword = 'x-kubernetes-list-type';
const keysKeyword = 'x-kubernetes-list-map-keys';

/** Validates how a list merges, and by which keys. */
export function listErrors(node: SchemaNode): readonly FieldError[] {
  const { schema, path } = node;
  const listType = stringField(schema, listTypeKeyword);
  const keys = listField(schema, keysKeyword).map(String);
  const errors: FieldError[] = [];
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const field = `${path}.${listTypeKeyword}`;
    errors.push(
      listType === undefined ? requiredField(field, detail) : invalidField(field, listType, detail),
    );
  }
  if (listType === undefined) return errors;
  const type = stringField(schema, 'type') ?? '';
  if (type !== 'array') {
    const detail = 'must be array if x-kubernetes-list-type is specified';
    const field = `${path}.type`;
    errors.push(type === '' ? requiredField(field, detail) : invalidField(field, type, detail));
  } else if (listType === 'set') errors.push(...setErrors(node));
  if (!listTypes.includes(listType))
    errors.push(unsupportedValue(`${path}.${listTypeKeyword}`, listType, listTypes));
  if (listType === 'map') errors.push(...listMapErrors(node, keys));
  if (listType !== 'atomic') errors.push(...nullErrors(node, listType, keys));
  return errors;
}

/** Items of a set are compared as a whole. */
function setErrors(node: SchemaNode): readonly FieldError[] {
  const items = node.items;
  if (items === undefined) return [];
  const { schema, path } = items;
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  // The server shows the list type of objects, too.
  const shown = stringField(schema, listTypeKeyword);
  switch (stringField(schema, 'type')) {
    case 'array':
      if (shown === undefined || shown === 'atomic') return [];
      return [invalidField(`${path}.${listTypeKeyword}`, shown, detail)];
    case 'object':
      if (stringField(schema, 'x-kubernetes-map-type') === 'atomic') return [];
      return [invalidField(`${path}.x-kubernetes-map-type`, shown, detail)];
    default:
      return [];
  }
}

function listMapErrors(node: SchemaNode, keys: readonly string[]): readonly FieldError[] {
  const { schema, path } = node;
  const errors: FieldError[] = [];
  const keysField = `${path}.${keysKeyword}`;
  if (keys.length === 0)
    errors.push(requiredField(keysField, 'must not be empty if x-kubernetes-list-type is map'));
  if (fieldOf(schema, 'items') === undefined) {
    const detail = 'must have a schema if x-kubernetes-list-type is map';
    errors.push(requiredField(`${path}.items`, detail));
  }
  const items = node.items;
  if (items === undefined) return errors;
  const type = stringField(items.schema, 'type') ?? '';
  if (type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalidField(`${items.path}.type`, type, detail)];
  }
  const fields = objectField(items.schema, 'properties') ?? {};
  for (const [index, key] of keys.entries()) {
    const field = objectField(fields, key);
    if (field === undefined)
      errors.push(invalidField(keysField, keys, 'entries must all be names of item properties'));
    else if (['array', 'object'].includes(stringField(field, 'type') ?? '')) {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      // The server shows the type of the item here.
      errors.push(invalidField(`${items.path}.properties[${key}].type`, type, detail));
    }
    if (keys.indexOf(key) < index)
      errors.push(invalidField(keysField, keys, 'must not contain duplicate entries'));
  }
  return errors;
}

/** Neither items nor keys may be nullable or optional. */
function nullErrors(
  node: SchemaNode,
  listType: string,
  keys: readonly string[],
): readonly FieldError[] {
  const items = node.items;
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return [];
  const errors: FieldError[] = [];
  if (isTrue(items.schema, 'nullable')) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(forbiddenField(`${items.path}.nullable`, detail));
  }
  if (listType !== 'map') return errors;
  const required = listField(items.schema, 'required');
  const fields = objectField(items.schema, 'properties') ?? {};
  for (const key of keys) {
    const field = objectField(fields, key);
    if (field === undefined) continue;
    const path = `${items.path}.properties[${key}]`;
    const why = 'this property is in x-kubernetes-list-map-keys, so it';
    if (!required.includes(key) && fieldOf(field, 'default') === undefined)
      errors.push(
        requiredField(`${path}.default`, `${why} must have a default or be a required property`),
      );
    if (isTrue(field, 'nullable'))
      errors.push(forbiddenField(`${path}.nullable`, `${why} cannot be nullable`));
  }
  return errors;
}
