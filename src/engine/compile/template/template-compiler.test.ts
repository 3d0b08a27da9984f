import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { SourceMap } from '#definition';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { createDiagnostics } from '../diagnostics.ts';
import { createLeafParser } from '../language/index.ts';
import { bundledSchemas } from '../schema/bundled-schemas.ts';
import { schemaOfCustomResource } from '../schema/custom-resource-schema.ts';
import { createSchemaCompiler } from '../schema/schema-compiler.ts';
import { compileTemplate } from './template-compiler.ts';

const start = { line: 1, column: 1 };
const source: SourceMap = {
  file: 'test.yaml',
  valueAt: () => start,
  keyAt: () => start,
  insideAt: () => start,
};
const parser = createLeafParser({
  parseYaml: () => undefined,
  printYaml: () => '',
  isReady: () => false,
});
const schemas = bundledSchemas();
const compiler = createSchemaCompiler();
const root = new URL('../../../../', import.meta.url).pathname;

describe('compile/template/template-compiler', () => {
  for (const file of globSync('test/fixtures/manifests/*.yaml', { cwd: root }).sort()) {
    test(`every manifest of ${file} is accepted as a template`, () => {
      const manifests = parseAllDocuments(readFileSync(root + file, 'utf8')).map(
        (document) => document.toJS() as KubeObject | null,
      );
      for (const manifest of manifests) {
        if (manifest === null) continue;
        const schema = schemas.schemaFor(gvkOf(manifest.apiVersion, manifest.kind));
        const diagnostics = createDiagnostics(source);
        const options = {
          tree: manifest,
          pointer: '',
          field: '',
          quotes: true,
          parser,
          diagnostics,
        };
        const { root: node } = compileTemplate({
          ...options,
          type: schema && compiler.compile(schema),
        });
        assert.deepEqual(diagnostics.finish().diagnostics, [], manifest.metadata.name);
        assert.equal(node.kind, 'constant');
        const value = node.kind === 'constant' ? node.value : undefined;
        assert.deepEqual(withoutNulls(value), withoutNulls(manifest));
      }
    });
  }

  for (const nullable of [true, false])
    test(`null in a list whose items are ${nullable ? '' : 'not '}nullable`, () => {
      const items = { type: 'array', items: { type: 'integer', nullable } };
      const schema = { type: 'object', properties: { items } };
      const type = schemaOfCustomResource(schema, gvkOf('example.com/v1', 'Box'));
      const diagnostics = createDiagnostics(source);
      const options = { tree: { items: [1, null] }, pointer: '', field: '', quotes: true };
      compileTemplate({ ...options, parser, diagnostics, type });
      assert.deepEqual(
        diagnostics.finish().diagnostics.map(({ message }) => message),
        nullable ? [] : ['Expected an integer at items[1], found null'],
      );
    });
});

function withoutNulls(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, field: unknown) => (field === null ? undefined : field)),
  );
}
