import { fieldOf, listField, objectField, stringField } from '../../json-fields.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
} from '../../status/field-error.ts';
import { completenessErrors, valueErrors } from './nested-rules.ts';
import { type BareNode, isSet, isTrue, type SchemaNode } from './schema-node.ts';

/** Explains why a regular expression is invalid in RE2; undefined = it is valid. */
export type PatternProblem = (pattern: string) => string | undefined;

/** The position of a schema: the rules and messages differ. */
type Level = 'root' | 'item' | 'field';

/** Violations of structural schemas: the type of every value must be known without looking at values. */
export function structureErrors(
  root: SchemaNode,
  patternProblem: PatternProblem,
): readonly FieldError[] {
  return [...nodeErrors(root, 'root', patternProblem), ...completenessErrors(root)];
}

function nodeErrors(
  node: SchemaNode,
  level: Level,
  patternProblem: PatternProblem,
): readonly FieldError[] {
  const { fields, items, additionalProperties: others } = node;
  const inner = [
    ...(items === undefined ? [] : nodeErrors(items, 'item', patternProblem)),
    ...fields.flatMap((field) => nodeErrors(field, 'field', patternProblem)),
    ...(others === undefined ? [] : nodeErrors(others, 'field', patternProblem)),
  ];
  return [
    ...inner,
    ...typeErrors(node, level),
    ...mapErrors(node, level),
    ...intOrStringErrors(node),
    ...valueErrors(node, patternProblem),
    ...metaFieldErrors(node, level),
  ];
}

const typeLocations: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function typeErrors({ schema, path }: SchemaNode, level: Level): readonly FieldError[] {
  const errors: FieldError[] = [];
  const type = stringField(schema, 'type') ?? '';
  const field = `${path}.type`;
  if (type === 'array' && fieldOf(schema, 'items') === undefined)
    errors.push(requiredField(`${path}.items`, 'must be specified'));
  const isFree =
    isTrue(schema, 'x-kubernetes-int-or-string') ||
    isTrue(schema, 'x-kubernetes-preserve-unknown-fields');
  if (isTrue(schema, 'x-kubernetes-embedded-resource') && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? requiredField(field, detail) : invalidField(field, type, detail));
  } else if (type === '' && !isFree) errors.push(requiredField(field, typeLocations[level]));
  if (level === 'root' && type !== '' && type !== 'object')
    errors.push(invalidField(field, type, 'must be object at the root'));
  return errors;
}

function mapErrors({ schema, path }: SchemaNode, level: Level): readonly FieldError[] {
  const errors: FieldError[] = [];
  const isEmbedded = isTrue(schema, 'x-kubernetes-embedded-resource');
  const field = `${path}.additionalProperties`;
  if (fieldOf(schema, 'additionalProperties') !== undefined) {
    if (level === 'root') errors.push(forbiddenField(field, 'must not be used at the root'));
    if (isEmbedded) {
      const detail = 'must not be used if x-kubernetes-embedded-resource is set';
      errors.push(forbiddenField(field, detail));
    }
  }
  const isClosed = !isTrue(schema, 'x-kubernetes-preserve-unknown-fields');
  const fields = Object.keys(objectField(schema, 'properties') ?? {});
  if (isEmbedded && isClosed && fields.length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(requiredField(`${path}.properties`, detail));
  }
  return errors;
}

function intOrStringErrors({ schema, path }: SchemaNode): readonly FieldError[] {
  if (!isTrue(schema, 'x-kubernetes-int-or-string')) return [];
  return ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource']
    .filter((keyword) => isTrue(schema, keyword))
    .map((keyword) => {
      const detail = 'must be false if x-kubernetes-int-or-string is true';
      return invalidField(`${path}.${keyword}`, true, detail);
    });
}

/** The constraints that are allowed for apiVersion, kind and metadata, which every object has. */
function metaFieldErrors(node: SchemaNode, level: Level): readonly FieldError[] {
  if (level !== 'root' && !isTrue(node.schema, 'x-kubernetes-embedded-resource')) return [];
  return node.fields.flatMap(({ name, schema, path }) => {
    const type = stringField(schema, 'type') ?? '';
    if (name === 'metadata') return metadataErrors({ schema, path }, level);
    if ((name !== 'kind' && name !== 'apiVersion') || type === 'string') return [];
    return [invalidField(`${path}.type`, type, 'must be string')];
  });
}

function metadataErrors({ schema, path }: BareNode, level: Level): readonly FieldError[] {
  const errors: FieldError[] = [];
  const type = stringField(schema, 'type') ?? '';
  if (type !== 'object') errors.push(invalidField(`${path}.type`, type, 'must be object'));
  if (level !== 'root' || allowsOnlyNameRules({ schema, path })) return errors;
  const detail =
    'must not specify anything other than name and generateName, but metadata is implicitly specified';
  return [...errors, forbiddenField(path, detail)];
}

function allowsOnlyNameRules({ schema }: BareNode): boolean {
  const names = Object.keys(objectField(schema, 'properties') ?? {});
  const rest = Object.keys(schema).filter(
    (keyword) => !['type', 'properties', 'default'].includes(keyword) && isSet(schema, keyword),
  );
  const { length } = listField(schema, 'x-kubernetes-validations');
  return (
    rest.length === 0 &&
    length === 0 &&
    names.every((name) => name === 'name' || name === 'generateName')
  );
}
