import { type JsonObject, pointerTo } from '#util/json.ts';
import { type SchemaNode, structureOf, subnode } from '../crd/schema-node.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, type LocatedValue, mapAt, mapsAt } from '../tree.ts';
import { isDnsLabel1035, type Rule } from './rule.ts';

const path = '/spec/crd/versions';

/** Version names are unique and exactly one version is stored. It must be served, because the operator reads it. */
export const checkCrdVersions: Rule = function* (document) {
  const versions = versionsOf(document);
  yield* checkNames(
    versions.map((version) => ({ ...version, name: fieldOf(version.value, 'name') })),
  );
  if (versions.length > 1) {
    for (const version of versions) yield* checkFlags(version.value, version.path);
  }
  yield* checkStorage(versions.map(({ value }) => value));
  for (const version of versions) {
    yield* checkScale(version.value, version.path);
    yield* checkDeprecation(version.value, version.path);
  }
};

function* checkNames(
  versions: readonly { readonly name: unknown; readonly path: string }[],
): Iterable<Finding> {
  const seen = new Set<string>();
  for (const { name, path: at } of versions) {
    if (typeof name !== 'string') continue;
    if (!isDnsLabel1035(name)) {
      const message = `Expected a version such as "v1" or "v1alpha1", found ${describeFound(name)}`;
      yield { code: 'invalid-name', path: pointerTo(at, 'name'), message };
    } else if (seen.has(name)) {
      yield {
        code: 'duplicate-id',
        path: pointerTo(at, 'name'),
        message: `Version "${name}" is defined twice`,
      };
    }
    seen.add(name);
  }
}

function* checkFlags(version: object, at: string): Iterable<Finding> {
  for (const field of ['served', 'storage']) {
    if (Object.hasOwn(version, field)) continue;
    yield {
      code: 'missing-field',
      path: pointerTo(at, field),
      at: 'parent-key',
      message: `Missing field "${field}"`,
      hint: 'It may be omitted only if there is one version',
    };
  }
}

function* checkStorage(versions: readonly object[]): Iterable<Finding> {
  if (versions.length === 0) return;
  const isStored = (version: object) => fieldOf(version, 'storage') ?? versions.length === 1;
  const stored = versions.filter((version) => isStored(version) === true);
  const [version] = stored;
  if (version === undefined || stored.length > 1) {
    const count = stored.length === 0 ? 'none' : `"${stored.length}"`;
    yield {
      code: 'invalid-crd',
      path,
      at: 'key',
      message: `Expected exactly one version with "storage: true", found ${count}`,
    };
    return;
  }
  const index = versions.indexOf(version);
  if (fieldOf(version, 'served') === false) {
    yield {
      code: 'invalid-crd',
      path: `${path}/${index}/served`,
      message: 'Expected "true" for the stored version, found "false"',
      hint: 'The operator reads resources in the stored version',
    };
  }
}

function* checkDeprecation(version: unknown, at: string): Iterable<Finding> {
  if (fieldOf(version, 'deprecationWarning') === undefined) return;
  if (fieldOf(version, 'deprecated') === true) return;
  const message = '"deprecationWarning" requires "deprecated: true"';
  yield { code: 'invalid-crd', path: pointerTo(at, 'deprecationWarning'), at: 'key', message };
}

function* checkScale(version: unknown, at: string): Iterable<Finding> {
  const scale = mapAt(version, '/subresources/scale');
  const wanted = {
    specReplicasPath: ['.spec.'],
    statusReplicasPath: ['.status.'],
    labelSelectorPath: ['.spec.', '.status.'],
  };
  for (const [field, prefixes] of Object.entries(wanted)) {
    const value = fieldOf(scale, field);
    if (typeof value !== 'string' || value === '') continue;
    if (prefixes.some((prefix) => value.startsWith(prefix))) continue;
    const message = `Expected a path that starts with "${prefixes.join('" or "')}", found ${describeFound(value)}`;
    yield { code: 'invalid-crd', path: `${at}/subresources/scale/${field}`, message };
  }
}

/** The versions of the CRD that are maps. */
export function versionsOf(document: JsonObject): readonly LocatedValue<JsonObject>[] {
  return mapsAt(document, '/spec/crd/versions');
}

/** The root of the schema of each version that has one. */
export function schemaRootsOf(document: JsonObject): readonly SchemaNode[] {
  return versionsOf(document).flatMap((version) => {
    const schema = subnode(version, 'schema');
    const root = schema && subnode(schema, 'openAPIV3Schema');
    return root === undefined ? [] : [root];
  });
}

/** All structural nodes of these schemas. */
export function schemaNodesOf(document: JsonObject): readonly SchemaNode[] {
  return schemaRootsOf(document).flatMap(structureOf);
}

/** The finding for a keyword that the API server rejects at this place of a CRD schema. */
export function invalidKeyword(node: SchemaNode, keyword: string, message: string): Finding {
  return { code: 'invalid-crd', path: pointerTo(node.path, keyword), at: 'key', message };
}
