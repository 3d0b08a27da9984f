import { deepEqual } from '../../util/deep-equal.ts';
import { didYouMean } from '../../util/did-you-mean.ts';
import { isJsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import {
  hasExtension,
  namedNodes,
  type SchemaNode,
  subnode,
  walkStructure,
} from '../crd/schema-node.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf } from '../tree.ts';
import { schemaRootsOf } from './crd-versions-of.ts';
import type { Rule } from './rule.ts';

/** Values inside a CRD's schema agree with it: defaults have the type of their field, required fields exist. */
export const checkCrdDefaults: Rule = function* (document) {
  for (const root of schemaRootsOf(document)) {
    for (const node of walkStructure(root)) {
      if (Object.hasOwn(node.value, 'default')) {
        const path = pointerTo(node.path, 'default');
        yield* checkValue({ node, value: fieldOf(node.value, 'default'), path });
      }
      yield* checkRequired(node);
    }
  }
};

interface Value {
  readonly node: SchemaNode;
  readonly value: unknown;
  readonly path: string;
}

function* checkValue({ node, value, path }: Value): Iterable<Finding> {
  const type = fieldOf(node.value, 'type');
  if (value === null && fieldOf(node.value, 'nullable') === true) return;
  if (typeof type === 'string' && !hasType(value, type)) {
    const message = `Expected a default of type "${type}", found ${found(value)}`;
    yield { code: 'invalid-crd', path, message };
    return;
  }
  const words = fieldOf(node.value, 'enum');
  if (Array.isArray(words) && !words.some((word) => deepEqual(word, value))) {
    const hint = typeof value === 'string' ? didYouMean(value, words.map(String)) : undefined;
    yield {
      code: 'invalid-crd',
      path,
      message: `Default ${found(value)} is not in the enum`,
      hint,
    };
  }
  const bound = brokenBound(node, value);
  if (bound !== undefined) {
    const message = `Default ${found(value)} does not keep to "${bound}"`;
    yield { code: 'invalid-crd', path, message };
  }
  yield* checkParts({ node, value, path });
}

/** The limit that a default breaks, as it is written in the schema. */
function brokenBound({ value: schema }: SchemaNode, value: unknown): string | undefined {
  const size = typeof value === 'string' || Array.isArray(value) ? value.length : undefined;
  const number = typeof value === 'number' ? value : undefined;
  const lower = { minimum: number, minLength: size, minItems: size };
  const upper = { maximum: number, maxLength: size, maxItems: size };
  const breaks = (keyword: string, actual: number | undefined, sign: 1 | -1) => {
    const limit = fieldOf(schema, keyword);
    return typeof limit === 'number' && actual !== undefined && (actual - limit) * sign < 0;
  };
  const broken =
    Object.entries(lower).find(([keyword, actual]) => breaks(keyword, actual, 1)) ??
    Object.entries(upper).find(([keyword, actual]) => breaks(keyword, actual, -1));
  return broken && `${broken[0]}: ${String(fieldOf(schema, broken[0]))}`;
}

function* checkParts({ node, value, path }: Value): Iterable<Finding> {
  const items = subnode(node, 'items');
  if (Array.isArray(value) && items !== undefined) {
    for (const [index, item] of value.entries()) {
      yield* checkValue({ node: items, value: item, path: pointerTo(path, index) });
    }
  }
  if (!isJsonObject(value)) return;
  const properties = namedNodes(node);
  const others = subnode(node, 'additionalProperties');
  const isOpen = hasExtension(node, 'preserve-unknown-fields');
  for (const [name, field] of Object.entries(value)) {
    const fieldPath = pointerTo(path, name);
    const fieldNode = properties.get(name) ?? others;
    if (fieldNode !== undefined)
      yield* checkValue({ node: fieldNode, value: field, path: fieldPath });
    else if (!isOpen && fieldOf(node.value, 'additionalProperties') !== true) {
      const hint = didYouMean(name, properties.keys());
      const message = `The schema has no field "${name}", so the default cannot have it`;
      yield { code: 'invalid-crd', path: fieldPath, at: 'key', message, hint };
    }
  }
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isJsonObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

const typeMeta: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

function* checkRequired(node: SchemaNode): Iterable<Finding> {
  const required = fieldOf(node.value, 'required');
  const properties = namedNodes(node);
  if (!Array.isArray(required) || properties.size === 0) return;
  if (hasExtension(node, 'preserve-unknown-fields')) return;
  const isResource =
    node.path.endsWith('/openAPIV3Schema') || hasExtension(node, 'embedded-resource');
  for (const [index, name] of required.entries()) {
    if (typeof name !== 'string' || properties.has(name)) continue;
    // The API server knows these of every resource.
    if (isResource && typeMeta.has(name)) continue;
    yield {
      code: 'invalid-crd',
      path: pointerTo(pointerTo(node.path, 'required'), index),
      message: `Required field "${name}" is not among the properties, so no resource could have it`,
      hint: didYouMean(name, properties.keys()),
    };
  }
}
