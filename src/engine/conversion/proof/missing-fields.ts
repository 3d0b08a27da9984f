import { isJsonObject } from '#util/json.ts';
import { fieldNode, itemNode, type SchemaNode } from '../schema-node.ts';

/** Paths of required fields without a value. */
export function missingFields(value: unknown, node: SchemaNode, path = ''): readonly string[] {
  if (Array.isArray(value)) {
    const item = itemNode(node);
    if (item === undefined) return [];
    return value.flatMap((each, index) => missingFields(each, item, `${path}[${index}]`));
  }
  if (!isJsonObject(value)) return [];
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  const required = node.kind === 'object' ? node.required : [];
  const missing = required.filter((name) => value[name] === undefined || value[name] === null);
  const inside = Object.entries(value).flatMap(([name, field]) => {
    const own = fieldNode(node, name);
    return own === undefined ? [] : missingFields(field, own, at(name));
  });
  return [...missing.map(at), ...inside];
}
