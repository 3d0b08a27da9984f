import { isJsonObject } from '#util/json.ts';
import { fieldNode, identities, itemNode, type SchemaNode } from '../schema-node.ts';

/** Do all items of lists that need one have an identity of their own? The API server stores no others. */
export function haveKeys(value: unknown, node: SchemaNode | undefined): boolean {
  if (node === undefined) return true;
  if (Array.isArray(value)) {
    const item = itemNode(node);
    if (node.kind === 'list' && node.listType !== 'atomic' && identities(value, node) === undefined)
      return false;
    return value.every((each) => haveKeys(each, item));
  }
  if (!isJsonObject(value)) return true;
  return Object.entries(value).every(([name, field]) => haveKeys(field, fieldNode(node, name)));
}
