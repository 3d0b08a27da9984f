import { pointerTo } from '#util/json.ts';
import {
  junctorsOf,
  listedNodes,
  namedNodes,
  type SchemaNode,
  subnode,
} from '../crd/schema-node.ts';
import type { Finding } from '../finding.ts';
import { fieldOf } from '../tree.ts';
import { schemaNodesOf } from './crd-versions.ts';
import type { Rule } from './rule.ts';

/**
 * Inside allOf, anyOf, oneOf and not, a CRD schema may only restrict values. Types and structure are defined outside.
 */
export const checkCrdNestedValidation: Rule = function* (document) {
  for (const node of schemaNodesOf(document)) {
    for (const nested of nestedIn(node)) yield* checkNested(nested, node);
  }
};

const structuralKeywords = [
  'type',
  'additionalProperties',
  'default',
  'title',
  'description',
  'nullable',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
];

function nestedIn(node: SchemaNode): readonly SchemaNode[] {
  const nested = junctorsOf(node);
  return isIntOrString(node)
    ? nested.filter(({ path }) => !path.startsWith(`${node.path}/anyOf/`))
    : nested;
}

/** The only allowed use of `type` in anyOf: what generators write for int-or-string. */
function isIntOrString(node: SchemaNode): boolean {
  const types = listedNodes(node, 'anyOf').map(({ value }) => JSON.stringify(value));
  return (
    types.length === 2 && types[0] === '{"type":"integer"}' && types[1] === '{"type":"string"}'
  );
}

/** `structure`: the structural node that the nested one restricts, or undefined. */
function* checkNested(nested: SchemaNode, structure: SchemaNode | undefined): Iterable<Finding> {
  for (const keyword of structuralKeywords) {
    if (!Object.hasOwn(nested.value, keyword) || fieldOf(nested.value, keyword) === false) continue;
    yield {
      code: 'invalid-crd',
      path: pointerTo(nested.path, keyword),
      at: 'key',
      message: `"${keyword}" cannot be used inside allOf, anyOf, oneOf or not`,
      hint: 'Move it outside, to the definition of the field',
    };
  }
  for (const [name, property] of namedNodes(nested)) {
    if (name === 'metadata') {
      const message = '"metadata" cannot be restricted inside allOf, anyOf, oneOf or not';
      yield { code: 'invalid-crd', path: property.path, at: 'key', message };
      continue;
    }
    const outside = structure && namedNodes(structure).get(name);
    if (structure !== undefined && outside === undefined) yield undefinedOutside(property, name);
    yield* checkNested(property, outside);
  }
  const items = subnode(nested, 'items');
  if (items !== undefined) yield* checkNested(items, structure && subnode(structure, 'items'));
  for (const inner of nestedIn(nested)) yield* checkNested(inner, structure);
}

function undefinedOutside({ path }: SchemaNode, name: string): Finding {
  return {
    // The server checks this only at the root. The field is pruned from every resource, so it is certainly an error.
    severity: 'warning',
    code: 'invalid-crd',
    path,
    at: 'key',
    message: `Field "${name}" is restricted here but not defined, so the API server prunes it from every resource`,
    hint: 'Define it with its type under "properties" of the outer schema',
  };
}
