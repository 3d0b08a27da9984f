import { didYouMean } from '#util/did-you-mean.ts';
import { pointerTo } from '#util/json.ts';
import { namedNodes, type SchemaNode, subnode } from '../crd/schema-node.ts';
import type { Finding } from '../finding.ts';
import { fieldOf } from '../tree.ts';
import { invalidKeyword, schemaNodesOf } from './crd-versions.ts';
import type { Rule } from './rule.ts';

const listType = 'x-kubernetes-list-type';
const listMapKeys = 'x-kubernetes-list-map-keys';
const mapType = 'x-kubernetes-map-type';

/** The merge strategies of lists and maps in a CRD schema are valid for the API server. */
export const checkCrdLists: Rule = function* (document) {
  for (const node of schemaNodesOf(document)) {
    yield* checkOwnType(node);
    yield* checkKeys(node);
    yield* checkItems(node);
  }
};

function* checkOwnType(node: SchemaNode): Iterable<Finding> {
  for (const [keyword, wanted] of [
    [listType, 'array'],
    [mapType, 'object'],
  ] as const) {
    const type = fieldOf(node.value, 'type');
    if (!Object.hasOwn(node.value, keyword) || type === wanted) continue;
    yield invalidKeyword(node, keyword, `"${keyword}" requires "type: ${wanted}"`);
  }
}

function* checkKeys(node: SchemaNode): Iterable<Finding> {
  const isMapList = fieldOf(node.value, listType) === 'map';
  const keys = fieldOf(node.value, listMapKeys);
  if (!isMapList && keys !== undefined) {
    yield invalidKeyword(node, listMapKeys, `"${listMapKeys}" requires "${listType}: map"`);
  }
  if (!isMapList) return;
  if (!Array.isArray(keys) || keys.length === 0) {
    yield {
      code: 'invalid-crd',
      path: pointerTo(node.path, listMapKeys),
      at: 'parent-key',
      message: `Missing field "${listMapKeys}": a list of type "map" requires the keys of its items`,
    };
    return;
  }
  const items = subnode(node, 'items');
  if (items === undefined) return;
  if (fieldOf(items.value, 'type') !== 'object') {
    yield invalidKeyword(items, 'type', 'Items of a list of type "map" must be of type "object"');
    return;
  }
  for (const [index, key] of keys.entries()) {
    if (keys.indexOf(key) < index) {
      yield {
        code: 'invalid-crd',
        path: keyPath(node, index),
        message: `Key "${String(key)}" is listed twice`,
      };
    } else yield* checkKey({ node, items, key: String(key), index });
  }
}

function* checkKey(options: {
  readonly node: SchemaNode;
  readonly items: SchemaNode;
  readonly key: string;
  readonly index: number;
}): Iterable<Finding> {
  const { node, items, key, index } = options;
  const properties = namedNodes(items);
  const property = properties.get(key);
  if (property === undefined) {
    const message = `Key "${key}" is not a property of the items`;
    const hint = didYouMean(key, properties.keys());
    yield { code: 'invalid-crd', path: keyPath(node, index), message, hint };
    return;
  }
  const type = fieldOf(property.value, 'type');
  if (type === 'object' || type === 'array') {
    yield invalidKeyword(
      property,
      'type',
      `Expected a string, number or boolean for the key "${key}", found "${type}"`,
    );
  }
  if (fieldOf(property.value, 'nullable') === true) {
    yield invalidKeyword(
      property,
      'nullable',
      `The key "${key}" of a list of type "map" cannot be nullable`,
    );
  }
  const required = fieldOf(items.value, 'required');
  const isRequired = Array.isArray(required) && required.includes(key);
  if (!isRequired && !Object.hasOwn(property.value, 'default')) {
    yield {
      code: 'invalid-crd',
      path: property.path,
      at: 'key',
      message: `The key "${key}" of a list of type "map" must be required or have a default`,
      hint: `Add "required: [${key}]" to the items`,
    };
  }
}

function* checkItems(node: SchemaNode): Iterable<Finding> {
  const kind = fieldOf(node.value, listType);
  const items = subnode(node, 'items');
  if (items === undefined || (kind !== 'set' && kind !== 'map')) return;
  if (fieldOf(items.value, 'nullable') === true) {
    yield invalidKeyword(
      items,
      'nullable',
      `Items of a list of type """""""${kind}""""""" cannot be nullable`,
    );
  }
  if (kind !== 'set') return;
  const type = fieldOf(items.value, 'type');
  if (type === 'object' && fieldOf(items.value, mapType) !== 'atomic') {
    yield {
      code: 'invalid-crd',
      path: items.path,
      at: 'key',
      message: 'Items of a list of type "set" must be atomic',
      hint: `Add "${mapType}: atomic" to the items`,
    };
  }
  const inner = fieldOf(items.value, listType);
  if (type === 'array' && inner !== undefined && inner !== 'atomic') {
    yield invalidKeyword(items, listType, 'Items of a list of type "set" must be atomic');
  }
}

function keyPath(node: SchemaNode, index: number): string {
  return pointerTo(pointerTo(node.path, listMapKeys), index);
}
