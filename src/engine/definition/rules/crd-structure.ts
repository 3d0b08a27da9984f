/**
 * "Structural schema" rules of the API server about the tree of types (apiextensions-apiserver,
 * pkg/apiserver/schema/validation.go).
 */
import { pointerTo } from '#util/json.ts';
import { hasExtension, namedNodes, partsOf, type SchemaNode } from '../crd/schema-node.ts';
import type { Finding } from '../finding.ts';
import { fieldOf } from '../tree.ts';
import { invalidKeyword, schemaRootsOf } from './crd-versions.ts';
import type { Rule } from './rule.ts';

/** Every root, property and item of a CRD schema has a type and consistent keywords. */
export const checkCrdStructure: Rule = function* (document) {
  for (const root of schemaRootsOf(document)) {
    yield* checkRoot(root);
    yield* checkNode(root);
  }
};

/** Keywords that are not allowed at the root when the status subresource is enabled, which it always is. */
const forbiddenAtRoot = [
  'default',
  'enum',
  'nullable',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'additionalProperties',
  'minProperties',
  'maxProperties',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
];

function* checkRoot(root: SchemaNode): Iterable<Finding> {
  for (const keyword of forbiddenAtRoot) {
    if (!Object.hasOwn(root.value, keyword)) continue;
    yield invalidKeyword(root, keyword, `"${keyword}" cannot be used at the root of a CRD schema`);
  }
  const type = fieldOf(root.value, 'type');
  if (typeof type === 'string' && type !== 'object') {
    yield invalidKeyword(
      root,
      'type',
      `Expected "object" as the type of the root, found "${type}"`,
    );
  }
  const metadata = namedNodes(root).get('metadata');
  if (metadata !== undefined) yield* checkRootMetadata(metadata);
}

function* checkRootMetadata(metadata: SchemaNode): Iterable<Finding> {
  const hint = 'Only "name" and "generateName" may be restricted; the API server defines the rest';
  const others = Object.keys(metadata.value).filter(
    (keyword) => !['type', 'properties', 'description', 'default'].includes(keyword),
  );
  for (const keyword of others) {
    yield {
      ...invalidKeyword(metadata, keyword, `"${keyword}" cannot be used in "metadata"`),
      hint,
    };
  }
  for (const [name, property] of namedNodes(metadata)) {
    if (name === 'name' || name === 'generateName') continue;
    const message = `"metadata.${name}" cannot be restricted by a CRD`;
    yield { code: 'invalid-crd', path: property.path, at: 'key', message, hint };
  }
}

function* checkNode(node: SchemaNode): Iterable<Finding> {
  yield* checkType(node);
  yield* checkShape(node);
  yield* checkExtensions(node);
  yield* checkTypeMeta(node);
  for (const part of partsOf(node)) yield* checkNode(part);
}

function* checkType(node: SchemaNode): Iterable<Finding> {
  if (Object.hasOwn(node.value, 'type') || Object.hasOwn(node.value, '$ref')) return;
  const isEmbedded = hasExtension(node, 'embedded-resource');
  if (hasExtension(node, 'int-or-string')) return;
  if (hasExtension(node, 'preserve-unknown-fields') && !isEmbedded) return;
  yield {
    code: 'invalid-crd',
    path: pointerTo(node.path, 'type'),
    at: 'parent-key',
    message: 'Missing field "type": every node of a CRD schema requires a type',
    hint: typeHint(node),
  };
}

function typeHint({ value }: SchemaNode): string | undefined {
  if (Object.hasOwn(value, 'properties')) return 'Add "type: object"';
  if (Object.hasOwn(value, 'additionalProperties')) return 'Add "type: object"';
  if (Object.hasOwn(value, 'items')) return 'Add "type: array"';
  return undefined;
}

function* checkShape(node: SchemaNode): Iterable<Finding> {
  const { value, path } = node;
  if (fieldOf(value, 'type') === 'array' && !Object.hasOwn(value, 'items')) {
    const message = 'Missing field "items": a list requires a schema for its items';
    yield { code: 'invalid-crd', path: pointerTo(path, 'items'), at: 'parent-key', message };
  }
  const additional = fieldOf(value, 'additionalProperties');
  const isClosing = additional !== undefined && additional !== true;
  if (isClosing && namedNodes(node).size > 0) {
    yield {
      ...invalidKeyword(
        node,
        'additionalProperties',
        '"properties" and "additionalProperties" are mutually exclusive',
      ),
      hint: 'Remove one of them; unknown fields are pruned anyway',
    };
  }
}

function* checkExtensions(node: SchemaNode): Iterable<Finding> {
  if (hasExtension(node, 'int-or-string')) {
    for (const other of ['preserve-unknown-fields', 'embedded-resource']) {
      if (!hasExtension(node, other)) continue;
      const message = `"x-kubernetes-${other}" and "x-kubernetes-int-or-string" are mutually exclusive`;
      yield invalidKeyword(node, `x-kubernetes-${other}`, message);
    }
  }
  if (!hasExtension(node, 'embedded-resource')) return;
  const type = fieldOf(node.value, 'type');
  if (type !== undefined && type !== 'object') {
    yield invalidKeyword(
      node,
      'type',
      `Expected "object" for an embedded resource, found "${String(type)}"`,
    );
  }
  if (Object.hasOwn(node.value, 'additionalProperties')) {
    const message = 'An embedded resource cannot have "additionalProperties"';
    yield invalidKeyword(node, 'additionalProperties', message);
  }
  if (!hasExtension(node, 'preserve-unknown-fields') && namedNodes(node).size === 0) {
    yield {
      ...invalidKeyword(
        node,
        'x-kubernetes-embedded-resource',
        'An embedded resource requires "properties"',
      ),
      hint: 'Add "properties", or "x-kubernetes-preserve-unknown-fields: true" to preserve all fields',
    };
  }
}

/** `apiVersion`, `kind` and `metadata` of the root and of embedded resources have their standard types. */
function* checkTypeMeta(node: SchemaNode): Iterable<Finding> {
  const isRoot = node.path.endsWith('/openAPIV3Schema');
  if (!isRoot && !hasExtension(node, 'embedded-resource')) return;
  const properties = namedNodes(node);
  for (const [name, expected] of [
    ['apiVersion', 'string'],
    ['kind', 'string'],
    ['metadata', 'object'],
  ] as const) {
    const property = properties.get(name);
    if (property !== undefined && isRoot && Object.hasOwn(property.value, 'default')) {
      yield invalidKeyword(property, 'default', `"${name}" of a resource cannot have a default`);
    }
    const type = property && fieldOf(property.value, 'type');
    if (property === undefined || type === undefined || type === expected) continue;
    yield invalidKeyword(
      property,
      'type',
      `Expected "${expected}" as the type of "${name}", found "${String(type)}"`,
    );
  }
}
