import { fieldOf, objectField, stringField } from '../../json-fields.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
} from '../../status/field-error.ts';
import { isIntOrStringAnyOf, isSet, type SchemaNode } from './schema-node.ts';
import type { PatternProblem } from './structure-rules.ts';

/** Validates the constraints of a schema: its pattern, and everything inside allOf, anyOf, oneOf and not. */
export function valueErrors(
  node: SchemaNode,
  patternProblem: PatternProblem,
): readonly FieldError[] {
  const typedPaths = node.junctors.length === 0 ? noPaths : intOrStringParts(node);
  return nestedKeywordErrors(node, typedPaths, patternProblem);
}

const noPaths: ReadonlySet<string> = new Set();

/** `exempt`: paths of schemas that may have a type there. */
function nestedKeywordErrors(
  node: SchemaNode,
  typedPaths: ReadonlySet<string>,
  patternProblem: PatternProblem,
): readonly FieldError[] {
  return [
    ...node.junctors
      .filter(({ path }) => !typedPaths.has(path))
      .flatMap((inner) => nestedErrors(inner, typedPaths, patternProblem)),
    ...patternErrors(node, patternProblem),
  ];
}

function patternErrors(
  { schema, path }: SchemaNode,
  patternProblem: PatternProblem,
): readonly FieldError[] {
  const pattern = stringField(schema, 'pattern') ?? '';
  const problem = pattern === '' ? undefined : patternProblem(pattern);
  if (problem === undefined) return [];
  const detail = `must be a valid regular expression, but isn't: ${problem}`;
  return [invalidField(`${path}.pattern`, pattern, detail)];
}

/** Where an integer-or-string schema may list its two types: in its own anyOf, or in the anyOf of the first schema of its allOf. */
function intOrStringParts(node: SchemaNode): ReadonlySet<string> {
  const [first] = node.junctorsIn('allOf');
  const candidates = first === undefined ? [node] : [node, first];
  const parts = candidates
    .filter(({ schema }) => isIntOrStringAnyOf(fieldOf(schema, 'anyOf')))
    .flatMap((schemaNode) => schemaNode.junctorsIn('anyOf'));
  return new Set(parts.map(({ path }) => path));
}

const forbidden: readonly (readonly [keyword: string, detail: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function nestedErrors(
  node: SchemaNode,
  typedPaths: ReadonlySet<string>,
  patternProblem: PatternProblem,
): readonly FieldError[] {
  const { schema, path, items, fields } = node;
  const metadata = fields.find(({ name }) => name === 'metadata');
  return [
    ...nestedKeywordErrors(node, typedPaths, patternProblem),
    ...(items === undefined ? [] : nestedErrors(items, typedPaths, patternProblem)),
    ...fields.flatMap((field) => nestedErrors(field, typedPaths, patternProblem)),
    ...forbidden
      .filter(([keyword]) => hasKeyword(node, keyword))
      .map(([keyword, detail]) => forbiddenField(`${path}.${keyword}`, detail)),
    ...(metadata === undefined || objectField(schema, 'properties') === undefined
      ? []
      : [forbiddenField(metadata.path, 'must not be specified in a nested context')]),
  ];
}

/** A default may be any value, also an empty one. */
function hasKeyword({ schema }: SchemaNode, keyword: string): boolean {
  if (keyword !== 'default') return isSet(schema, keyword);
  return (fieldOf(schema, keyword) ?? null) !== null;
}

/** Fields that allOf, anyOf, oneOf or not of the root constrain must also be declared outside of them. */
export function completenessErrors(root: SchemaNode): readonly FieldError[] {
  return root.junctors.flatMap((nested) => missingParts(nested, root.path, root));
}

/** `structure`: the outer schema that corresponds to a nested one; undefined when there is none, at `path`. */
function missingParts(
  nested: SchemaNode,
  path: string,
  structure: SchemaNode | undefined,
): readonly FieldError[] {
  if (structure === undefined)
    return [requiredField(path, `because it is defined in ${nested.path}`)];
  const { items } = nested;
  return [
    ...nested.junctors.flatMap((inner) => missingParts(inner, path, structure)),
    ...(items === undefined ? [] : missingParts(items, `${path}.items`, structure.items)),
    ...nested.fields.flatMap((inner) => {
      const field = structure.fields.find(({ name }) => name === inner.name);
      return missingParts(inner, `${path}.properties[${inner.name}]`, field);
    }),
  ];
}
