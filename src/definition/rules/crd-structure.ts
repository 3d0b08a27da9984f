/** "Structural schema" rules of the API server about the tree of types (apiextensions-apiserver, pkg/apiserver/schema/validation.go). */
import { pointerTo } from '../../util/json-pointer.ts';
import { hasExtension, namedNodes, partsOf, type SchemaNode } from '../crd/schema-node.ts';
import type { Finding } from '../finding.ts';
import { fieldOf } from '../tree.ts';
import { schemaRootsOf } from './crd-versions-of.ts';
import { invalidKeyword } from './invalid-keyword.ts';
import type { Rule } from './rule.ts';

/** Every root, property and item of a CRD schema says its type, and holds together. */
export const checkCrdStructure: Rule = function* (document) {
  for (const root of schemaRootsOf(document)) {
    yield* checkRoot(root);
    yield* checkNode(root);
  }
};

/** With the status subresource, which is always on, few keywords may stand at the root. */
const refusedAtRoot = [
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
  for (const keyword of refusedAtRoot) {
    if (!Object.hasOwn(root.value, keyword)) continue;
    yield invalidKeyword(
      root,
      keyword,
      `"${keyword}" cannot be used at the root of a CRD's schema`,
    );
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
  const hint = 'Only "name" and "generateName" may be restricted; the API server knows the rest';
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
    message: 'Missing field "type": every part of a CRD\'s schema must say its type',
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
    const message = 'Missing field "items": a list must say what its items are';
    yield { code: 'invalid-crd', path: pointerTo(path, 'items'), at: 'parent-key', message };
  }
  const additional = fieldOf(value, 'additionalProperties');
  const isClosing = additional !== undefined && additional !== true;
  if (isClosing && namedNodes(node).size > 0) {
    yield {
      ...invalidKeyword(
        node,
        'additionalProperties',
        '"properties" and "additionalProperties" exclude each other',
      ),
      hint: 'Unknown fields are dropped anyway; keep one of the two',
    };
  }
}

function* checkExtensions(node: SchemaNode): Iterable<Finding> {
  if (hasExtension(node, 'int-or-string')) {
    for (const other of ['preserve-unknown-fields', 'embedded-resource']) {
      if (!hasExtension(node, other)) continue;
      const message = `"x-kubernetes-${other}" and "x-kubernetes-int-or-string" exclude each other`;
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
        'An embedded resource needs "properties"',
      ),
      hint: 'Or add "x-kubernetes-preserve-unknown-fields: true" to keep all fields',
    };
  }
}

/** `apiVersion`, `kind` and `metadata` of the root and of embedded resources have the types they always have. */
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
