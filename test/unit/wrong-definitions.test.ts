import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { DefinitionValidator } from '#testing';
import { expectDiagnostics } from '../support/diagnostics.ts';
import { recipePages } from '../support/recipes/index.ts';

const root = new URL('../../', import.meta.url).pathname;
const read = (file: string) => readFileSync(root + file, 'utf8');
const files = (pattern: string) => globSync(pattern, { cwd: root }).sort();

/** Definitions with one mistake each, as users make them, checked as `homeostat validate` does. */
describe('unit/wrong-definitions', () => {
  const validator = new DefinitionValidator();
  after(() => validator.close());
  const diagnosticsOf = (file: string, text: string) =>
    validator.validate([{ file, text }]).diagnostics;

  for (const file of files('test/fixtures/invalid-validate/*.yaml'))
    test(`${file} gives exactly the expected diagnostics`, () => {
      const expected = JSON.parse(read(file.replace(/\.yaml$/, '.expected.json')));
      assert.ok(expected.length > 0);
      expectDiagnostics(diagnosticsOf(file, read(file)), expected);
    });

  test('the corpus has at least 120 wrong definitions', () => {
    const found = files('test/fixtures/invalid*/*.expected.json');
    assert.ok(found.length >= 120, String(found.length));
  });

  for (const file of [...files('operators/*.yaml'), ...files('operators/http/*.yaml')])
    test(`${file} has none`, () => {
      assert.deepEqual(diagnosticsOf(file, read(file)), []);
    });

  for (const { name, definition } of recipePages())
    test(`recipe ${name} has none`, () => {
      assert.deepEqual(diagnosticsOf(`${name}.yaml`, definition), []);
    });
});
