import { didYouMean } from '../../util/did-you-mean.ts';
import { isJsonObject, pointerTo } from '../../util/json.ts';
import { namedNodes, type SchemaNode, subnode } from '../crd/schema-node.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, type LocatedValue, mapAt, mapsAt, valueAt } from '../tree.ts';
import { versionsOf } from './crd-versions.ts';
import type { Rule } from './rule.ts';

/**
 * Without conversion an object has the same fields in all versions. A server-side apply decodes it in the version of
 * each field manager; the server responds with 500 if that version lacks one of its fields (observed on 1.36).
 */
export const checkCrdVersionFields: Rule = function* (document) {
  if (valueAt(document, '/spec/crd/conversion/strategy') === 'Webhook') return;
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
    const properties = namedNodes(node);
    const next = properties.get(step);
    if (next === undefined) {
      const message = `The schema has no field "${step}" at ${describeFound(jsonPath)}`;
      yield { code: 'invalid-crd', path: at, message, hint: didYouMean(step, properties.keys()) };
      return;
    }
    node = next;
  }
  const type = fieldOf(node.value, 'type');
  if (typeof type !== 'string' || ['string', 'integer', 'boolean'].includes(type)) return;
  const message = `Expected a field of type "string", "integer" or "boolean", found "${type}"`;
  yield { code: 'invalid-crd', path: at, message };
}
