import { isJsonObject } from '#util/json.ts';
import { fieldNode, itemNode, type ObjectNode, type SchemaNode } from '../schema-node.ts';

/** Paths of required fields without a value. */
export function missingFields(value: unknown, node: SchemaNode): readonly string[] {
  return missing(value, node, ({ required }) => required, '');
}

/** May a client send it, and does it have all defaults, as the API server converts it? */
export function isComplete(value: unknown, node: SchemaNode): boolean {
  const names = ({ required, defaulted }: ObjectNode) => [...required, ...defaulted];
  return missing(value, node, names, '').length === 0;
}

function missing(
  value: unknown,
  node: SchemaNode,
  namesOf: (node: ObjectNode) => readonly string[],
  path: string,
): readonly string[] {
  if (Array.isArray(value)) {
    const item = itemNode(node);
    if (item === undefined) return [];
    return value.flatMap((each, index) => missing(each, item, namesOf, `${path}[${index}]`));
  }
  if (!isJsonObject(value)) return [];
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  const needed = node.kind === 'object' ? namesOf(node) : [];
  const here = needed.filter((name) => value[name] === undefined || value[name] === null);
  const inside = Object.entries(value).flatMap(([name, field]) => {
    const own = fieldNode(node, name);
    return own === undefined ? [] : missing(field, own, namesOf, at(name));
  });
  return [...here.map(at), ...inside];
}
