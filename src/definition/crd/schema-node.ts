import { isJsonObject, type JsonObject, pointerTo } from '../../util/json.ts';
import { fieldOf, type LocatedValue } from '../tree.ts';

/** A node of a CRD schema and its pointer in the document. */
export type SchemaNode = LocatedValue<JsonObject>;

/** The subnode in a field of a node. */
export function subnode(node: SchemaNode, field: string): SchemaNode | undefined {
  const value = fieldOf(node.value, field);
  return isJsonObject(value) ? { value, path: pointerTo(node.path, field) } : undefined;
}

/** The nodes in a field that is a map of nodes (`properties`), by name. */
export function namedNodes(
  node: SchemaNode,
  field = 'properties',
): ReadonlyMap<string, SchemaNode> {
  const map = subnode(node, field);
  const nodes = new Map<string, SchemaNode>();
  for (const name of Object.keys(map?.value ?? {})) {
    const named = map && subnode(map, name);
    if (named !== undefined) nodes.set(name, named);
  }
  return nodes;
}

/** The nodes in a field that is a list of nodes (`anyOf`). */
export function listedNodes(node: SchemaNode, field: string): readonly SchemaNode[] {
  const list = fieldOf(node.value, field);
  if (!Array.isArray(list)) return [];
  const path = pointerTo(node.path, field);
  return list.flatMap((item: unknown, index) =>
    isJsonObject(item) ? [{ value: item, path: pointerTo(path, index) }] : [],
  );
}

/** The direct parts of a structural node: properties, items, additionalProperties. */
export function partsOf(node: SchemaNode): readonly SchemaNode[] {
  const single = [subnode(node, 'items'), subnode(node, 'additionalProperties')];
  return [...namedNodes(node).values(), ...single.filter((part) => part !== undefined)];
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
