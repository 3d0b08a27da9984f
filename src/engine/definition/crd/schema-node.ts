import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import {
  junctorsIn,
  partsIn,
  type SchemaKeyword,
  type Subschema,
  schemasIn,
} from '#util/json-schema.ts';
import { fieldOf, type LocatedValue } from '../tree.ts';

/** A node of a CRD schema and its pointer in the document. */
export type SchemaNode = LocatedValue<JsonObject>;

/** The subnode in a field of a node. */
export function subnode(node: SchemaNode, field: string): SchemaNode | undefined {
  const value = fieldOf(node.value, field);
  return isJsonObject(value) ? { value, path: pointerTo(node.path, field) } : undefined;
}

/** The nodes in a field that is a map of nodes, by name. */
export function namedNodes(
  node: SchemaNode,
  keyword: SchemaKeyword = 'properties',
): ReadonlyMap<string, SchemaNode> {
  return new Map(
    schemasIn(node.value, keyword).map((each) => [String(each.key), nodeOf(node, each)]),
  );
}

/** The nodes in a field that is a list of nodes (`anyOf`). */
export function listedNodes(node: SchemaNode, keyword: SchemaKeyword): readonly SchemaNode[] {
  return schemasIn(node.value, keyword).map((each) => nodeOf(node, each));
}

/** The direct parts of a structural node: properties, items, additionalProperties. */
export function partsOf(node: SchemaNode): readonly SchemaNode[] {
  return partsIn(node.value).map((each) => nodeOf(node, each));
}

/** The nodes that constrain the same value: those of allOf, anyOf, oneOf and not. */
export function junctorsOf(node: SchemaNode): readonly SchemaNode[] {
  return junctorsIn(node.value).map((each) => nodeOf(node, each));
}

function nodeOf({ path }: SchemaNode, { schema, keyword, key }: Subschema<JsonObject>): SchemaNode {
  const at = pointerTo(path, keyword);
  return { value: schema, path: key === undefined ? at : pointerTo(at, key) };
}

/** Whether the node has `x-kubernetes-<extension>: true`. */
export function hasExtension(node: SchemaNode, extension: string): boolean {
  return fieldOf(node.value, `x-kubernetes-${extension}`) === true;
}

/** Every structural node below and including this one. */
export function structureOf(node: SchemaNode): readonly SchemaNode[] {
  const found: SchemaNode[] = [];
  const visit = (each: SchemaNode) => {
    found.push(each);
    for (const part of partsOf(each)) visit(part);
  };
  visit(node);
  return found;
}
