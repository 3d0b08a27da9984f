import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import { expectDiagnostics } from '../../../test/support/diagnostics.ts';
import { bundledSchemas, compile } from './index.ts';

const root = new URL('../../../', import.meta.url).pathname;
const read = (file: string) => readFileSync(root + file, 'utf8');
const files = (pattern: string) => globSync(pattern, { cwd: root }).sort();
const schemas = bundledSchemas();

describe('compile/fixtures', () => {
  for (const file of files('test/fixtures/invalid-compile/*.yaml')) {
    test(`${file} gives exactly the expected diagnostics`, () => {
      const { definitions, diagnostics } = definitionParser.parse(read(file), file);
      assert.deepEqual(diagnostics, []);
      const [located] = definitions;
      assert.ok(located);
      const expected = JSON.parse(read(file.replace(/\.yaml$/, '.expected.json')));
      const result = compile(located, schemas);
      expectDiagnostics(result.diagnostics, expected);
      const isWrong = result.diagnostics.some(({ severity }) => severity === 'error');
      assert.equal(result.plan === undefined, isWrong);
    });
  }

  for (const file of files('operators/*.yaml')) {
    test(`${file} compiles without diagnostics`, () => {
      const { definitions } = definitionParser.parse(read(file), file);
      assert.ok(definitions.length > 0);
      for (const located of definitions) {
        const { plan, diagnostics } = compile(located, schemas);
        assert.deepEqual(diagnostics, []);
        assert.ok(plan);
      }
    });
  }

  for (const file of files('test/fixtures/invalid/*.yaml')) {
    test(`${file} can be compiled for more diagnostics without throwing`, () => {
      const { documents } = definitionParser.parse(read(file), file);
      for (const located of documents.flatMap((document) => document.located ?? [])) {
        for (const { file: named } of compile(located, schemas).diagnostics) {
          assert.equal(named, file);
        }
      }
    });
  }
});
