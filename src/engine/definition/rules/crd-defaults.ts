import { deepEqual } from '#util/deep-equal.ts';
import { didYouMean } from '#util/did-you-mean.ts';
import { isJsonObject, pointerTo } from '#util/json.ts';
import { hasExtension, namedNodes, type SchemaNode, subnode } from '../crd/schema-node.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, plainForm } from '../tree.ts';
import { schemaNodesOf } from './crd-versions.ts';
import type { Rule } from './rule.ts';

/** Defaults in a CRD schema match the schema of their field, and required fields exist. */
export const checkCrdDefaults: Rule = function* (document) {
  for (const node of schemaNodesOf(document)) {
    if (Object.hasOwn(node.value, 'default')) {
      const path = pointerTo(node.path, 'default');
      yield* checkValue({ node, value: fieldOf(node.value, 'default'), path });
    }
    yield* checkRequired(node);
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
    const message = `Expected a default of type "${type}", found ${describeFound(value)}`;
    const plain = typeof value === 'string' ? plainForm(value, [type]) : undefined;
    const hint = plain === undefined ? undefined : `Write ${plain}, without quotes`;
    yield { code: 'invalid-crd', path, message, hint };
    return;
  }
  const words = fieldOf(node.value, 'enum');
  if (Array.isArray(words) && !words.some((word) => deepEqual(word, value))) {
    const hint = typeof value === 'string' ? didYouMean(value, words.map(String)) : undefined;
    yield {
      code: 'invalid-crd',
      path,
      message: `Default ${describeFound(value)} is not in the enum`,
      hint,
    };
  }
  const bound = violatedBound(node, value);
  if (bound !== undefined) {
    const message = `Default ${describeFound(value)} violates "${bound}"`;
    yield { code: 'invalid-crd', path, message };
  }
  yield* checkParts({ node, value, path });
}

/** The limit that a default violates, as written in the schema. */
function violatedBound({ value: schema }: SchemaNode, value: unknown): string | undefined {
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
      const message = `The default has the field "${name}", which the schema does not define`;
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
    // The API server defines these for every resource.
    if (isResource && typeMeta.has(name)) continue;
    yield {
      code: 'invalid-crd',
      path: pointerTo(pointerTo(node.path, 'required'), index),
      message: `Required field "${name}" is not defined in "properties", so no resource could be valid`,
      hint: didYouMean(name, properties.keys()),
    };
  }
}
