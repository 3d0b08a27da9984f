import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { fieldOf, isJsonList } from '../json-fields.ts';
import {
  type FieldError,
  invalidField,
  requiredField,
  tooLong,
  tooMany,
  unsupportedValue,
  wrongType,
} from '../status/field-error.ts';
import { hasFormat } from './formats.ts';
import type { StructuralSchema } from './structural-schema.ts';

interface ValueAtSchema {
  readonly schema: StructuralSchema;
  readonly value: Json;
  /** The path of the value: `spec.ports[0]`; empty at the root. */
  readonly path: string;
  /** The value before an update: unchanged values are not rejected. Undefined = there is no comparable value. */
  readonly before: Json | undefined;
}

/** All violations of a schema, with the server's messages. */
export function validateValue(at: ValueAtSchema): readonly FieldError[] {
  const errors = findErrors(at);
  if (errors.length === 0 || at.before === undefined) return errors;
  return deepEqual(at.value, at.before) ? [] : errors;
}

function findErrors(at: ValueAtSchema): readonly FieldError[] {
  const { schema, value, path } = at;
  const typeError = checkType(at);
  if (typeError !== undefined)
    return [typeError, ...checkRange(at), ...checkComposed(at), ...checkEnum(at)];
  const errors = [...checkRange(at), ...checkComposed(at)];
  if (typeof value === 'string') errors.push(...checkText(schema, value, path));
  else if (typeof value === 'number' || typeof value === 'bigint')
    errors.push(...checkNumber(schema, value, path));
  else if (isJsonList(value)) errors.push(...checkItems(at, value));
  else if (isJsonObject(value)) errors.push(...checkFields(at, value));
  return [...errors, ...checkEnum(at)];
}

function checkEnum({ schema, value, path }: ValueAtSchema): readonly FieldError[] {
  const isKnown =
    schema.enum === undefined ||
    (value === null && schema.nullable === true) ||
    schema.enum.some((allowed) => deepEqual(allowed, value));
  if (isKnown) return [];
  const allowed = schema.enum ?? [];
  const texts = allowed.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
  return [unsupportedValue(path, value, texts)];
}

function checkType({ schema, value, path }: ValueAtSchema): FieldError | undefined {
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  const expected = isIntOrString ? 'integer,string' : schema.type;
  if (expected === undefined) return undefined;
  const found = typeName(value);
  if (value === null) {
    if (schema.nullable === true) return undefined;
    return wrongType(path, found, `${path} in body must be of type ${expected}: "null"`);
  }
  const ofFormat = formatMismatch(schema, value, path);
  if (ofFormat !== undefined) return ofFormat;
  const isExpectedType =
    expected.split(',').includes(found) || (expected === 'number' && found === 'integer');
  if (isExpectedType) return undefined;
  return wrongType(path, found, `${path} in body must be of type ${expected}: "${found}"`);
}

/** A value that is no text is compared with the format first. */
function formatMismatch(
  { type, format }: StructuralSchema,
  value: Json,
  path: string,
): FieldError | undefined {
  if (format === undefined || typeof value === 'string' || isJsonList(value)) return undefined;
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (typeName(value) === type || (type === 'number' && isNumber)) return undefined;
  const found = typeof value !== 'number' ? '' : Number.isInteger(value) ? 'int64' : 'float64';
  return wrongType(path, found, `${path} in body must be of type ${format}: "${found}"`);
}

/** A number of another type is reported without a field; a fraction is reported twice. */
function checkRange({ schema, value, path }: ValueAtSchema): readonly FieldError[] {
  const { format } = schema;
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (schema.type !== 'integer' || !isNumber) return [];
  const isInRange = format !== 'int32' || value === (Number(value) | 0);
  if ((typeof value === 'bigint' || Number.isInteger(value)) && isInRange) return [];
  const type = format === undefined ? 'integer (default format)' : `integer with format ${format}`;
  const detail = `Checked value must be of type ${type} in ${path}`;
  return [invalidField('<nil>', '', detail)];
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  if (isJsonList(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'bigint' ? 'integer' : typeof value;
}

function checkText(schema: StructuralSchema, value: string, path: string): readonly FieldError[] {
  const { format } = schema;
  const first = checkLengthAndPattern(schema, value, path);
  const errors = first === undefined ? [] : [first];
  if (format === undefined || hasFormat(format, value)) return errors;
  const detail = `${path} in body must be of type ${format}: ${JSON.stringify(value)}`;
  return [...errors, wrongType(path, value, detail)];
}

/** The server reports only the first of these. */
function checkLengthAndPattern(
  { minLength, maxLength, pattern }: StructuralSchema,
  value: string,
  path: string,
): FieldError | undefined {
  const length = [...value].length;
  if (maxLength !== undefined && length > maxLength) return tooLong(path, maxLength);
  if (minLength !== undefined && length < minLength) {
    const detail = `${path} in body should be at least ${minLength} chars long`;
    return invalidField(path, value, detail);
  }
  if (pattern === undefined || matches(pattern, value)) return undefined;
  return invalidField(path, value, `${path} in body should match '${pattern}'`);
}

/** Patterns use RE2 syntax; one that is invalid in JavaScript is not checked. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern).test(value);
  } catch (error) {
    if (error instanceof SyntaxError) return true;
    throw error;
  }
}

function isMultiple(value: number | bigint, of: number): boolean {
  if (typeof value === 'bigint' && Number.isInteger(of)) return value % BigInt(of) === 0n;
  return Number.isInteger(Number(value) / of);
}

function checkNumber(
  schema: StructuralSchema,
  value: number | bigint,
  path: string,
): readonly FieldError[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const details: string[] = [];
  if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum))
    details.push(`less than ${exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`);
  if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum))
    details.push(`greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`);
  if (multipleOf !== undefined && !isMultiple(value, multipleOf))
    details.push(`a multiple of ${multipleOf}`);
  return details.map((detail) => invalidField(path, value, `${path} in body should be ${detail}`));
}

function checkItems(at: ValueAtSchema, items: readonly Json[]): readonly FieldError[] {
  const { schema, path, before } = at;
  const errors: FieldError[] = [];
  const { minItems, maxItems, items: itemSchema } = schema;
  if (itemSchema !== undefined) {
    for (const [index, value] of items.entries()) {
      const previous = itemBefore(schema, value, before);
      const place = { schema: itemSchema, value, path: `${path}[${index}]`, before: previous };
      errors.push(...validateValue(place));
    }
  }
  if (maxItems !== undefined && items.length > maxItems)
    errors.push(tooMany(path, items.length, maxItems));
  if (minItems !== undefined && items.length < minItems) {
    const detail = `${path} in body should have at least ${minItems} items`;
    errors.push(invalidField(path, items.length, detail));
  }
  return errors;
}

/** The item of a list map with the same keys; undefined for other lists. */
function itemBefore(schema: StructuralSchema, item: Json, before: Json | undefined) {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (keys === undefined || !isJsonObject(item) || !isJsonList(before)) return undefined;
  return before.find(
    (old) =>
      isJsonObject(old) && keys.every((key) => deepEqual(fieldOf(old, key), fieldOf(item, key))),
  );
}

function checkFields(at: ValueAtSchema, object: JsonObject): readonly FieldError[] {
  const { schema, path, before } = at;
  const { properties = {}, additionalProperties, required = [] } = schema;
  const errors: FieldError[] = [];
  for (const [name, value = null] of Object.entries(object)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (typeof known !== 'object') continue;
    const previous = isJsonObject(before) ? fieldOf(before, name) : undefined;
    const place = { schema: known, value, path: childPath(path, name), before: previous };
    errors.push(...validateValue(place));
  }
  for (const name of required)
    if (!Object.hasOwn(object, name)) errors.push(requiredField(childPath(path, name)));
  return [...errors, ...checkSize(schema, Object.keys(object).length, path)];
}

function checkSize(
  { minProperties, maxProperties }: StructuralSchema,
  count: number,
  path: string,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (maxProperties !== undefined && count > maxProperties)
    errors.push(tooMany(path, count, maxProperties));
  if (minProperties !== undefined && count < minProperties) {
    const detail = `${path} in body should have at least ${minProperties} properties`;
    errors.push(invalidField(path, count, detail));
  }
  return errors;
}

function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function checkComposed(at: ValueAtSchema): readonly FieldError[] {
  const { schema, path } = at;
  const errors: FieldError[] = [];
  const under = (part: StructuralSchema) => validateValue({ ...at, schema: part });
  // Errors of allOf, anyOf, oneOf and not have no field.
  const fail = (text: string) => errors.push(invalidField('<nil>', '', `"${path}" ${text}`));
  if (schema.anyOf !== undefined) {
    const results = schema.anyOf.map(under);
    if (results.every((result) => result.length > 0)) {
      fail('must validate at least one schema (anyOf)');
      errors.push(...(results[0] ?? []));
    }
  }
  if (schema.oneOf !== undefined) {
    const results = schema.oneOf.map(under);
    const valid = results.filter((result) => result.length === 0).length;
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
    if (valid !== 1) fail(`must validate one and only one schema (oneOf). ${found}`);
    if (valid === 0) errors.push(...(results[0] ?? []));
  }
  if (schema.allOf !== undefined) {
    const results = schema.allOf.map(under);
    errors.push(...results.flat());
    const valid = results.filter((result) => result.length === 0).length;
    const tail = valid === 0 ? '. None validated' : '';
    if (valid !== results.length) fail(`must validate all the schemas (allOf)${tail}`);
  }
  if (schema.not !== undefined && under(schema.not).length === 0)
    fail('must not validate the schema (not)');
  return errors;
}
