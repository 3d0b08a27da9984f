import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { test as runTests } from '../../src/cli/commands/test.ts';
import { recipePages } from '../support/recipes/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-recipe-tests-'));
after(() => rmSync(folder, { recursive: true }));

/** Each recipe has tests in `test/recipes`, which cover its whole definition. */
describe('unit/recipe-tests', () => {
  for (const { name, definition, sample } of recipePages()) {
    const tests = fileURLToPath(new URL(`../recipes/${name}.yaml`, import.meta.url));

    test(`the tests of ${name} pass, and cover all of it`, async () => {
      assert.ok(existsSync(tests), `Expected ${tests}`);
      writeFileSync(join(folder, 'definition.yaml'), definition);
      writeFileSync(join(folder, 'sample.yaml'), sample);
      const path = join(folder, `${name}.yaml`);
      copyFileSync(tests, path);
      const lines: string[] = [];
      const print = (text: string) => void lines.push(text);
      const output = { print, error: print, hasColor: false, isTerminal: false };
      assert.equal(await runTests([path], { minCoverage: 100 }, output), 0, lines.join('\n'));
    });
  }
});
