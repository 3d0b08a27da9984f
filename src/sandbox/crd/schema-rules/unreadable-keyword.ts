import { fieldOf, isJsonList } from '../../json-fields.ts';
import { childNode, isSet, junctorNodes, propertyNodes, type SchemaNode } from './schema-node.ts';

/** A keyword for which the server does not read the schema as a structural one; all but `$schema` are told elsewhere, too. */
export function unreadableKeyword(node: SchemaNode): string | undefined {
  const { schema } = node;
  if (isSet(schema, '$schema')) return 'schema';
  for (const keyword of ['id', '$ref', 'patternProperties', 'dependencies', 'definitions'])
    if (isSet(schema, keyword)) return keyword;
  if (fieldOf(schema, 'additionalItems') !== undefined) return 'additionalItems';
  if (isJsonList(fieldOf(schema, 'items') ?? null)) return 'items';
  const preserve = 'x-kubernetes-preserve-unknown-fields';
  if (fieldOf(schema, preserve) === false) return preserve;
  const children = [
    ...propertyNodes(node),
    ...['items', 'additionalProperties'].flatMap((name) => childNode(node, name) ?? []),
    ...junctorNodes(node),
  ];
  for (const child of children) {
    const found = unreadableKeyword(child);
    if (found !== undefined) return found;
  }
  return undefined;
}
