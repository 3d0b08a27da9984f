import { didYouMean } from '#util/did-you-mean.ts';
import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import { hasExtension, namedNodes, type SchemaNode, subnode } from '../crd/schema-node.ts';
import { withStandardStatus } from '../crd/standard-status.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, type LocatedValue, mapAt, mapsAt, valueAt } from '../tree.ts';
import { versionsOf } from './crd-versions.ts';
import type { Rule } from './rule.ts';

/**
 * Without conversion an object has the same fields in all versions. A server-side apply decodes it in the version of
 * each field manager; the server responds with 500 if that version lacks one of its fields (observed on 1.36).
 */
export const checkCrdVersionFields: Rule = function* (document) {
  const isConverted = valueAt(document, '/spec/conversions') !== undefined;
  if (isConverted || valueAt(document, '/spec/crd/conversion/strategy') === 'Webhook') return;
  const versions = mapsAt(document, '/spec/crd/versions');
  const stored = versions.find(({ value }) => value.storage === true);
  if (stored === undefined) return;
  for (const version of versions) {
    if (version === stored || fieldOf(version.value, 'served') !== true) continue;
    for (const [here, there] of [
      [version, stored],
      [stored, version],
    ] as const) {
      const missing = missingField(schemaOf(there), schemaOf(here));
      if (missing === undefined) continue;
      yield {
        severity: 'warning',
        code: 'invalid-crd',
        path: pointerTo(here.path, 'schema'),
        at: 'key',
        message: `Version "${String(fieldOf(here.value, 'name'))}" lacks the field "${missing}" of version "${String(fieldOf(there.value, 'name'))}"`,
        hint: 'Define it in both: a server-side apply fails if one version lacks a field of the object',
      };
    }
  }
};

function schemaOf({ value }: LocatedValue<unknown>): unknown {
  return valueAt(value, '/schema/openAPIV3Schema');
}

/** The path of the first field that one schema has and the other lacks. */
function missingField(from: unknown, other: unknown, path = ''): string | undefined {
  if (fieldOf(other, 'x-kubernetes-preserve-unknown-fields') === true) return undefined;
  const known = mapAt(other, '/properties');
  for (const [name, schema] of Object.entries(mapAt(from, '/properties'))) {
    const here = path === '' ? name : `${path}.${name}`;
    if (!Object.hasOwn(known, name)) return here;
    const deeper = missingField(schema, known[name], here);
    if (deeper !== undefined) return deeper;
  }
  for (const inner of ['items', 'additionalProperties']) {
    const [one, two] = [fieldOf(from, inner), fieldOf(other, inner)];
    if (!isJsonObject(one) || !isJsonObject(two)) continue;
    const deeper = missingField(one, two, `${path}[]`);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

/** The API server accepts a printer column without a field, which is then always empty. */
export const checkCrdPrinterColumns: Rule = function* (document) {
  for (const version of versionsOf(document)) {
    const root = withStandardStatus(mapAt(version.value, '/schema/openAPIV3Schema'), true);
    for (const { value, path } of mapsAt(version.value, '/additionalPrinterColumns')) {
      const jsonPath = fieldOf(value, 'jsonPath');
      if (typeof jsonPath !== 'string' || !jsonPath.startsWith('.')) continue;
      const problem = columnProblem(root, jsonPath);
      const at = pointerTo(version.path + path, 'jsonPath');
      if (problem !== undefined)
        yield { severity: 'warning', code: 'invalid-crd', path: at, ...problem };
    }
  }
};

/** The first step of a JSON path that the schema lacks. Ends at fields that schemas do not describe, and at syntax of other forms. */
function columnProblem(root: JsonObject, jsonPath: string): Problem | undefined {
  if (!columnPath.test(jsonPath)) return undefined;
  let node: SchemaNode = { value: root, path: '' };
  for (const { 1: name, index } of jsonPath.matchAll(columnStep)) {
    const step = name?.replaceAll(/\\(.)/g, '$1');
    const isObject = node.value === root || hasExtension(node, 'embedded-resource');
    if (step !== undefined && isObject && typeMeta.includes(step)) return undefined;
    const next =
      step === undefined
        ? subnode(node, 'items')
        : (namedNodes(node).get(step) ?? subnode(node, 'additionalProperties'));
    if (next !== undefined) node = next;
    else if (step === undefined || hasExtension(node, 'preserve-unknown-fields')) return undefined;
    else if (node.value.type !== 'array') return unknownStep(node, step, jsonPath);
    else
      return {
        message: `A list has no field "${step}" at ${describeFound(jsonPath)}`,
        hint: `Write "${jsonPath.slice(0, index)}[*]${jsonPath.slice(index)}"`,
      };
  }
  return undefined;
}

const typeMeta = ['apiVersion', 'kind', 'metadata'];

/** The steps of a JSON path: `.name`, `[0]`, `[*]` and `[?(@.type=="Ready")]`. */
const columnStep = /\.((?:[^.[\\]|\\.)+)|\[(?:\d+|\*|\?\([^)]*\))\]/g;
const columnPath = new RegExp(`^(?:${columnStep.source})+$`);

type Problem = Pick<Finding, 'message' | 'hint'>;

function unknownStep(node: SchemaNode, step: string, jsonPath: string): Problem {
  return {
    message: `The schema has no field "${step}" at ${describeFound(jsonPath)}`,
    hint: didYouMean(step, namedNodes(node).keys()),
  };
}

/** Selectable fields are strings, integers or booleans of the schema. */
export const checkCrdSelectableFields: Rule = function* (document) {
  for (const version of versionsOf(document)) {
    const schema = subnode(version, 'schema');
    const root = schema && subnode(schema, 'openAPIV3Schema');
    if (root === undefined) continue;
    for (const { value, path } of mapsAt(version.value, '/selectableFields')) {
      const jsonPath = fieldOf(value, 'jsonPath');
      const at = pointerTo(version.path + path, 'jsonPath');
      if (typeof jsonPath === 'string') yield* checkPath({ root, jsonPath, at });
    }
  }
};

function* checkPath(options: {
  readonly root: SchemaNode;
  readonly jsonPath: string;
  readonly at: string;
}): Iterable<Finding> {
  const { root, jsonPath, at } = options;
  if (!/^(?:\.[A-Za-z_][\w-]*)+$/.test(jsonPath)) {
    const message = `Expected a path such as ".spec.color", found ${describeFound(jsonPath)}`;
    yield { code: 'invalid-crd', path: at, message };
    return;
  }
  let node = root;
  for (const step of jsonPath.slice(1).split('.')) {
    const next = namedNodes(node).get(step);
    if (next === undefined) {
      yield { code: 'invalid-crd', path: at, ...unknownStep(node, step, jsonPath) };
      return;
    }
    node = next;
  }
  const type = fieldOf(node.value, 'type');
  if (typeof type !== 'string' || ['string', 'integer', 'boolean'].includes(type)) return;
  const message = `Expected a field of type "string", "integer" or "boolean", found "${type}"`;
  yield { code: 'invalid-crd', path: at, message };
}
