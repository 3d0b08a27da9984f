import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import { expectDiagnostics } from '../../../test/support/diagnostics.ts';
import type { DiagnosticCode } from './index.ts';

const root = new URL('../../../', import.meta.url).pathname;
const read = (file: string) => readFileSync(root + file, 'utf8');
const files = (pattern: string) => globSync(pattern, { cwd: root }).sort();

/** Checked by the compiler to be all of them. */
const codes = Object.keys({
  'ambiguous-yaml': true,
  'breaking-change': true,
  cycle: true,
  'duplicate-id': true,
  'expression-syntax': true,
  'forbidden-expression': true,
  'invalid-crd': true,
  'invalid-name': true,
  'invalid-value': true,
  'missing-field': true,
  'optional-parent': true,
  'render-failed': true,
  'suspicious-expression': true,
  'template-syntax': true,
  'unknown-child-field': true,
  'unknown-field': true,
  'unknown-name': true,
  'unknown-path': true,
  'unused-acceptance': true,
  'wrong-type': true,
  'yaml-syntax': true,
} satisfies Record<DiagnosticCode, true>);

describe('definition/fixtures', () => {
  for (const file of files('test/fixtures/invalid/*.{yaml,json}')) {
    if (file.endsWith('.expected.json')) continue;
    test(`${file} gives exactly the expected diagnostics`, () => {
      const expected = JSON.parse(read(file.replace(/\.\w+$/, '.expected.json')));
      const { diagnostics } = definitionParser.parse(read(file), file);
      expectDiagnostics(diagnostics, expected);
    });
  }

  for (const file of [...files('test/fixtures/valid/*'), ...files('operators/*.yaml')]) {
    test(`${file} is accepted without diagnostics`, () => {
      const { definitions, documents, diagnostics } = definitionParser.parse(read(file), file);
      assert.deepEqual(diagnostics, []);
      assert.ok(documents.every(({ isAccepted }) => isAccepted));
      assert.ok(definitions.length > 0);
    });
  }

  test('every code has an entry in docs/diagnostics.md, in order, and every entry is a code', () => {
    const text = read('docs/diagnostics.md');
    const entries = [...text.matchAll(/^## `([a-z-]+)`$/gm)].map((match) => match[1]);
    assert.deepEqual(entries, codes);
  });

  test('every code of this room has a fixture', () => {
    const expectations = files('test/fixtures/invalid/*.expected.json');
    const seen = new Set(expectations.flatMap((file) => codesIn(JSON.parse(read(file)))));
    const unseen = codes.filter((code) => !ofCompile.has(code) && !seen.has(code));
    assert.deepEqual(unseen, []);
  });
});

/** Codes that only a later room gives. */
const ofCompile: ReadonlySet<string> = new Set([
  'breaking-change',
  'expression-syntax',
  'optional-parent',
  'render-failed',
  'suspicious-expression',
  'template-syntax',
  'unknown-child-field',
  'unknown-path',
  'unused-acceptance',
]);

function codesIn(expected: readonly { readonly code: string }[]): readonly string[] {
  return expected.map(({ code }) => code);
}
