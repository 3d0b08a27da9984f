import { isJsonObject } from '#util/json.ts';
import { fieldOf, isJsonList, objectField, stringField } from '../../json-fields.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../../status/field-error.ts';
import { listErrors } from './list-rules.ts';
import { type BareNode, isSet, isTrue, type SchemaNode } from './schema-node.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

export interface KeywordContext {
  /** Why defaults are forbidden here: ` in top-level metadata`; undefined = they are allowed. */
  readonly noDefaultsBecause: string | undefined;
  /** Inside apiVersion, kind or metadata of an object. */
  readonly isInsideMeta: boolean;
}

/** Keywords that are misplaced or unsupported in CRDs. Checks one schema, not those nested in it. */
export function keywordErrors(node: SchemaNode, context: KeywordContext): readonly FieldError[] {
  return [
    ...typeErrors(node),
    ...defaultErrors(node, context),
    ...unsupportedErrors(node, context),
    ...mapErrors(node),
    ...listErrors(node),
  ];
}

function typeErrors({ schema, path }: SchemaNode): readonly FieldError[] {
  const type = stringField(schema, 'type') ?? '';
  const field = `${path}.type`;
  const errors: FieldError[] = [];
  if (type !== '' && !types.includes(type)) errors.push(unsupportedValue(field, type, types));
  if (type === 'null') {
    const detail = 'type cannot be set to null, use nullable as an alternative';
    errors.push(forbiddenField(field, detail));
  }
  return errors;
}

function defaultErrors(
  { schema, path }: SchemaNode,
  { noDefaultsBecause }: KeywordContext,
): readonly FieldError[] {
  if (noDefaultsBecause === undefined || (fieldOf(schema, 'default') ?? null) === null) return [];
  return [forbiddenField(`${path}.default`, `must not be set${noDefaultsBecause}`)];
}

function unsupportedErrors(
  { schema, path }: SchemaNode,
  { isInsideMeta }: KeywordContext,
): readonly FieldError[] {
  const errors = ['id', '$ref', 'patternProperties', 'definitions']
    .filter((keyword) => hasKeyword({ schema, path }, keyword))
    .map((keyword) => forbiddenField(`${path}.${keyword}`, `${keyword} is not supported`));
  for (const keyword of ['additionalItems', 'dependencies'])
    if (fieldOf(schema, keyword) !== undefined)
      errors.push(forbiddenField(`${path}.${keyword}`, `${keyword} is not supported`));
  if (isJsonList(fieldOf(schema, 'items') ?? null)) {
    const detail = 'items must be a schema object and not an array';
    errors.push(forbiddenField(`${path}.items`, detail));
  }
  if (isTrue(schema, 'uniqueItems')) {
    const detail =
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbiddenField(`${path}.uniqueItems`, detail));
  }
  const embedded = 'x-kubernetes-embedded-resource';
  if (isInsideMeta && isTrue(schema, embedded))
    errors.push(forbiddenField(`${path}.${embedded}`, 'must not be used inside of resource meta'));
  const preserve = 'x-kubernetes-preserve-unknown-fields';
  if (fieldOf(schema, preserve) === false)
    errors.push(invalidField(`${path}.${preserve}`, false, 'must be true or undefined'));
  return errors;
}

function hasKeyword({ schema }: BareNode, keyword: string): boolean {
  const value = fieldOf(schema, keyword);
  return isJsonObject(value ?? null)
    ? Object.keys(objectField(schema, keyword) ?? {}).length > 0
    : isSet(schema, keyword);
}

function mapErrors({ schema, path }: SchemaNode): readonly FieldError[] {
  const errors: FieldError[] = [];
  const others = fieldOf(schema, 'additionalProperties');
  const hasFields = Object.keys(objectField(schema, 'properties') ?? {}).length > 0;
  if (hasFields && others !== undefined && others !== true) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    errors.push(forbiddenField(`${path}.additionalProperties`, detail));
  }
  const mapType = stringField(schema, 'x-kubernetes-map-type');
  if (mapType === undefined) return errors;
  const type = stringField(schema, 'type') ?? '';
  if (type !== 'object') {
    const detail = 'must be object if x-kubernetes-map-type is specified';
    const field = `${path}.type`;
    errors.push(type === '' ? requiredField(field, detail) : invalidField(field, type, detail));
  }
  const mapTypes = ['atomic', 'granular'];
  if (!mapTypes.includes(mapType))
    errors.push(unsupportedValue(`${path}.x-kubernetes-map-type`, mapType, mapTypes));
  return errors;
}
