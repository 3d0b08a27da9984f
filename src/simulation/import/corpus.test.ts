import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { checkDefinitions } from '../../check/index.ts';
import { bundledSchemas } from '../../compile/index.ts';
import { parseYaml } from '../../definition/index.ts';
import type { JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { renderResource } from '../render/render-resource.ts';
import { compareSubset } from '../testing/compare-subset.ts';
import { type ImportResult, importFiles } from './import-files.ts';

const root = new URL('../../../', import.meta.url).pathname;

/** What a source becomes. Children and status are as kro documents them for these instances. */
interface Expected {
  /** What is not simply converted: `line:column outcome name: detail`. */
  readonly notConverted?: readonly string[];
  /** Warnings of `homeostat validate`. */
  readonly warnings?: readonly string[];
  /** Objects that exist before. */
  readonly given?: readonly KubeObject[];
  /** By the name of the instance. Fields that are not listed may be there. */
  readonly instances: Readonly<
    Record<string, { readonly children: readonly KubeObject[]; readonly status?: JsonObject }>
  >;
}

const files = globSync('test/fixtures/import/*/*.yaml', { cwd: root })
  .filter((file) => !file.endsWith('.expected.yaml'))
  .sort();

function read(file: string): ImportResult {
  const { results, ignored, syntaxErrors } = importFiles([
    { file, text: readFileSync(root + file, 'utf8') },
  ]);
  assert.deepEqual([syntaxErrors, ignored], [[], []]);
  const [result] = results;
  assert.ok(result);
  return result;
}

function leftOut({ constructs }: ImportResult): number {
  return constructs.filter(({ outcome }) => outcome === 'left out').length;
}

/** `ConfigMap web` */
function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}

describe('simulation/import/corpus', () => {
  for (const file of files) {
    const expected = parseYaml(
      readFileSync(root + file.replace('.yaml', '.expected.yaml'), 'utf8'),
    ) as unknown as Expected;

    test(`${file} is converted to a valid definition, with the expected report`, () => {
      const result = read(file);
      assert.deepEqual(
        result.constructs
          .filter(({ outcome }) => outcome !== 'converted')
          .map(
            ({ line, column, outcome, name, detail }) =>
              `${line}:${column} ${outcome} ${name}: ${detail}`,
          ),
        expected.notConverted ?? [],
      );
      const text = result.imported?.text ?? '';
      const { diagnostics } = checkDefinitions([{ file, text }], { schemas: bundledSchemas() });
      assert.deepEqual(
        diagnostics.map(({ severity, message }) => `${severity}: ${message}`),
        (expected.warnings ?? []).map((message) => `warning: ${message}`),
      );
    });

    for (const [name, { children, status = {} }] of Object.entries(expected.instances))
      test(`${file}: "${name}" gets its objects and becomes ready`, async () => {
        const { imported, samples } = read(file);
        const resource = samples.find(({ metadata }) => metadata.name === name);
        assert.ok(resource && imported);
        const rendered = await renderResource({
          definitions: [{ file, text: imported.text }],
          resource,
          given: expected.given ?? [],
          simulatesControllers: true,
        });
        assert.equal(rendered.problem, undefined);
        const found = new Map(
          rendered.children.map(({ manifest }) => [nameOf(manifest), manifest]),
        );
        assert.deepEqual([...found.keys()].sort(), children.map(nameOf).sort());
        for (const child of children)
          assert.deepEqual(compareSubset(child, found.get(nameOf(child)), undefined), []);
        assert.deepEqual(compareSubset(status, rendered.status, undefined), []);
      });
  }

  test('most of the corpus needs no manual work', () => {
    const complete = files.filter((file) => leftOut(read(file)) === 0);
    assert.ok(files.length >= 30);
    assert.ok(complete.length >= 24, `${complete.length} of ${files.length}`);
  });
});
