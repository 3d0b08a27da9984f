import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { checkDefinitions } from '#check';
import { bundledSchemas } from '#compile';
import { parseYaml, readBoundedDocuments } from '#definition';
import { childLabel } from '#reconcile';
import { renderResource } from '#render/render-resource.ts';
import { compareSubset } from '#testing/compare-subset.ts';
import { gvkOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { evaluateComposition } from '../../../test/support/crossplane/evaluate.ts';
import { childId } from './convert/child-id.ts';
import { type ImportResult, importFiles } from './import-files.ts';
import { UnknownKinds } from './unknown-kinds.ts';

const root = new URL('../../../', import.meta.url).pathname;

/** What a source becomes. */
interface Expected {
  /** What is not simply converted: `line:column outcome name: detail`. */
  readonly notConverted?: readonly string[];
  /** Warnings of `homeostat validate`. */
  readonly warnings?: readonly string[];
  /** Objects that exist before. */
  readonly given?: readonly KubeObject[];
  /** kro: children and status as it documents them, by the name of the instance. Fields that are not listed may be there. */
  readonly instances?: Readonly<Record<string, Instance>>;
  /** Crossplane: the status that the controllers of composed resources report, by their name. */
  readonly observed?: Readonly<Record<string, JsonObject>>;
  /** Crossplane: data of the Secret with connection details, by the name of the resource. */
  readonly connection?: Readonly<Record<string, JsonObject>>;
  /** Crossplane: fields whose values differ, as the report says. */
  readonly differs?: readonly string[];
}

interface Instance {
  readonly children: readonly KubeObject[];
  readonly status?: JsonObject;
}

const files = globSync('test/fixtures/import/*/*.yaml', { cwd: root })
  .filter((file) => !/\.(?:expected|answers)\.yaml$/.test(file))
  .sort();

function textOf(file: string): string {
  return readFileSync(root + file, 'utf8');
}

function expectedOf(file: string): Expected {
  const path = file.replace('.yaml', '.expected.yaml');
  return existsSync(root + path) ? ((parseYaml(textOf(path)) ?? {}) as unknown as Expected) : {};
}

function documentsOf(file: string): readonly JsonObject[] {
  const { documents } = readBoundedDocuments(textOf(file), file, 'kubectl');
  return documents.flatMap(({ value }) => (isJsonObject(value) ? [value] : []));
}

function read(file: string): readonly ImportResult[] {
  const answers = file.replace('.yaml', '.answers.yaml');
  const { results, ignored, syntaxErrors } = importFiles(
    [{ file, text: textOf(file) }],
    existsSync(root + answers) ? { answers: [{ file: answers, text: textOf(answers) }] } : {},
  );
  assert.deepEqual([syntaxErrors, ignored], [[], []]);
  assert.ok(results.length > 0);
  return results;
}

function isComplete(file: string): boolean {
  return read(file).every(
    ({ constructs, imported }) =>
      imported !== undefined && constructs.every(({ outcome }) => outcome !== 'left out'),
  );
}

/** What the definition of one result creates for a sample, with the kinds that the files do not define. */
async function render(file: string, name: string) {
  const { observed = {}, given = [] } = expectedOf(file);
  const results = read(file);
  const found = results.flatMap(({ imported, samples }) => {
    const resource = samples.find(({ metadata }) => metadata.name === name);
    return resource && imported ? [{ resource, imported }] : [];
  });
  const { resource, imported } = found[0] ?? {};
  assert.ok(resource && imported);
  const definitions = results.flatMap(({ imported: each, name: of }) =>
    each === undefined ? [] : [{ file: `${of}.yaml`, text: each.text }],
  );
  const unknown = new UnknownKinds(results.flatMap((each) => each.imported ?? []));
  const statuses = new Map(
    Object.entries(observed).map(([key, each]) => [childId(key, new Set()), each]),
  );
  const isKro = file.includes('/kro/');
  const rendered = await renderResource({
    definitions,
    resource,
    given: isKro ? given : [...unknown.crds, ...given, ...(imported.given ?? [])],
    simulatesControllers: true,
    statusOf: (child) =>
      !isKro && unknown.has(child)
        ? { ...readyStatus, ...statuses.get(child.metadata.labels?.[childLabel] ?? '') }
        : undefined,
  });
  return { rendered, resource };
}

const readyStatus: JsonObject = { conditions: [{ type: 'Ready', status: 'True' }] };

/** `ConfigMap web` */
function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}

describe('simulation/import/corpus', () => {
  for (const file of files) {
    const expected = expectedOf(file);

    test(`${file} is converted to valid definitions, with the expected report`, () => {
      const results = read(file);
      assert.deepEqual(
        results.flatMap(({ constructs }) =>
          constructs
            .filter(({ outcome }) => outcome !== 'converted')
            .map(
              ({ line, column, outcome, name, detail }) =>
                `${line}:${column} ${outcome} ${name}: ${detail}`,
            ),
        ),
        expected.notConverted ?? [],
      );
      const texts = results.flatMap(({ imported }) => imported?.text ?? []);
      const manifests = texts.map((text, index) => ({ file: `${file}-${index}`, text }));
      const { diagnostics } = checkDefinitions(manifests, { schemas: bundledSchemas() });
      assert.deepEqual(
        diagnostics.map(({ severity, message }) => `${severity}: ${message}`),
        (expected.warnings ?? []).map((message) => `warning: ${message}`),
      );
    });
  }

  test('most of the corpus of each tool needs no manual work', () => {
    for (const tool of ['kro', 'crossplane', 'metacontroller']) {
      const own = files.filter((file) => file.includes(`/${tool}/`));
      const complete = own.filter(isComplete);
      assert.ok(own.length >= 30);
      assert.ok(complete.length >= 24, `${tool}: ${complete.length} of ${own.length}`);
    }
  });

  for (const file of files.filter((each) => each.includes('/kro/')))
    for (const [name, { children, status = {} }] of Object.entries(
      expectedOf(file).instances ?? {},
    ))
      test(`${file}: "${name}" gets its objects and becomes ready`, async () => {
        const { rendered } = await render(file, name);
        assert.equal(rendered.problem, undefined);
        const found = new Map(
          rendered.children.map(({ manifest }) => [nameOf(manifest), manifest]),
        );
        assert.deepEqual([...found.keys()].sort(), children.map(nameOf).sort());
        for (const child of children)
          assert.deepEqual(compareSubset(child, found.get(nameOf(child)), undefined), []);
        assert.deepEqual(compareSubset(status, rendered.status, undefined), []);
      });

  for (const file of files.filter((each) => each.includes('/crossplane/') && isComplete(each)))
    for (const { metadata } of read(file).flatMap(({ samples }) => samples)) {
      const { name } = metadata;
      test(`${file}: "${name}" gets what the Composition composes, and becomes ready`, async () => {
        const { rendered, resource } = await render(file, name);
        const documents = documentsOf(file);
        const { observed = {}, differs = [], connection = {} } = expectedOf(file);
        const source = documents.find(
          (each) =>
            isJsonObject(each.metadata) &&
            each.metadata.name === name &&
            each.apiVersion === resource.apiVersion,
        );
        const { objects, status } = evaluateComposition({ documents, resource: source, observed });
        assert.equal(rendered.problem, undefined);
        const secret = rendered.children.find(({ child }) => child === 'connection');
        assert.deepEqual(secret?.manifest.data, connection[name]);
        const found = rendered.children.filter(({ child }) => child !== 'connection');
        const normalize = (object: unknown) => comparable(object, differs);
        assert.deepEqual(
          new Map(found.map(({ child, manifest }) => [child, normalize(manifest)])),
          new Map(
            [...objects].map(([key, object]) => [childId(key, new Set()), normalize(object)]),
          ),
        );
        assert.deepEqual(
          compareSubset(normalize(status), normalize(rendered.status), undefined),
          [],
        );
      });
    }

  for (const file of files.filter((each) => each.includes('/metacontroller/') && isComplete(each)))
    for (const { parent, objects } of read(file).flatMap(
      ({ imported }) => imported?.recorded ?? [],
    ))
      test(`${file}: "${parent.metadata.name}" gets what its hook has answered, and becomes ready`, async () => {
        const { rendered } = await render(file, parent.metadata.name);
        assert.equal(rendered.problem, undefined);
        const byName = (all: readonly KubeObject[]) =>
          new Map(
            all.map((each) => [`${nameOf(each)} ${each.metadata.namespace ?? 'default'}`, each]),
          );
        assert.deepEqual(
          new Map(
            [...byName(rendered.children.map(({ manifest }) => manifest))].map(([key, each]) => [
              key,
              comparable(each, []),
            ]),
          ),
          new Map([...byName(objects)].map(([key, each]) => [key, comparable(each, [])])),
        );
      });
});

/** Without what differs by design: UIDs, namespaces that are implied, and fields of which the report says so. */
function comparable(object: unknown, differs: readonly string[]): JsonObject {
  const text = JSON.stringify(object).replaceAll(
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    'UID',
  );
  const copy = JSON.parse(text, (_, value: unknown) =>
    value === null ? undefined : value,
  ) as JsonObject;
  const { metadata, kind, apiVersion, stringData } = copy;
  if (isJsonObject(stringData)) {
    const encoded = Object.entries(stringData).map(([key, each]) => [key, btoa(String(each))]);
    Object.assign(copy, { data: Object.fromEntries(encoded) });
    remove(copy, ['stringData']);
  }
  const isClusterScoped =
    bundledSchemas().isNamespaced(gvkOf(String(apiVersion), String(kind))) === false;
  const result = {
    ...copy,
    ...(isJsonObject(metadata) && {
      metadata: {
        ...metadata,
        namespace: isClusterScoped ? 'none' : (metadata.namespace ?? 'default'),
      },
    }),
  };
  // The server drops empty maps of metadata.
  for (const field of ['labels', 'annotations'])
    if (Object.keys((result.metadata as JsonObject | undefined)?.[field] ?? {}).length === 0)
      remove(result, ['metadata', field]);
  for (const path of differs) remove(result, path.split('.'));
  return result;
}

function remove(value: unknown, [first = '', ...rest]: readonly string[]): void {
  if (!isJsonObject(value)) return;
  if (rest.length > 0) remove(value[first], rest);
  else delete (value as Record<string, unknown>)[first];
}
