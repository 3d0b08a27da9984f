import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { test as runTests } from '#cli/commands/test.ts';
import { recipePages } from '../support/recipes/index.ts';

const tests = fileURLToPath(new URL('../recipes', import.meta.url));

/** The coverage of recipes that tests cannot cover: a default that ends in `$error` does not count as used. */
const partlyCovered: Readonly<Record<string, string>> = { 'external-name-lookup': '83.3' };

/** Each recipe has tests in `test/recipes`, which cover its whole definition. */
describe('unit/recipe-tests', () => {
  const pages = recipePages();
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-recipe-tests-'));
  after(() => rmSync(folder, { recursive: true }));

  test('each recipe has tests, and there are no others', () => {
    assert.deepEqual(
      readdirSync(tests).toSorted(),
      pages.map(({ name }) => `${name}.yaml`).toSorted(),
    );
  });

  for (const { name, definition, sample } of pages) {
    const coverage = partlyCovered[name] ?? '100';

    test(`the tests of ${name} pass, and cover ${coverage} % of it`, async () => {
      writeFileSync(join(folder, 'definition.yaml'), definition);
      writeFileSync(join(folder, 'sample.yaml'), sample);
      const path = join(folder, `${name}.yaml`);
      copyFileSync(join(tests, `${name}.yaml`), path);
      const lines: string[] = [];
      const print = (text: string) => void lines.push(text);
      const output = { print, error: print, hasColor: false, isTerminal: false };
      const exitCode = await runTests([path], { minCoverage: Number(coverage) }, output);
      const printed = lines.join('\n');
      assert.equal(exitCode, 0, printed);
      assert.ok(printed.includes(`(${coverage} %)`), printed);
    });
  }
});
