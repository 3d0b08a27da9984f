import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fuzzDefinitions } from '#cli/commands/fuzz.ts';
import { test as runTests } from '#cli/commands/test.ts';
import { rights } from '#cli/rights.ts';
import { validate } from '#cli/validate.ts';
import { reachFolder, reachNames } from '../support/reach.ts';

function recorded() {
  const lines: string[] = [];
  const print = (text: string) => void lines.push(text);
  return { lines, output: { print, error: print, hasColor: false, isTerminal: false } };
}

describe('unit/reach', () => {
  for (const name of reachNames()) {
    const folder = reachFolder(name);

    test(`${name} has at most 150 lines, and is valid without a warning`, async () => {
      const text = readFileSync(`${folder}/${name}.yaml`, 'utf8');
      assert.ok(text.split('\n').length <= 151);
      const { lines, output } = recorded();
      assert.equal(await validate([folder], { output: 'text' }, output), 0, lines.join('\n'));
      assert.doesNotMatch(lines.join('\n'), /warning/);
    });

    test(`the tests of ${name} pass, and cover all of it`, async () => {
      const { lines, output } = recorded();
      const exitCode = await runTests([folder], { minCoverage: 100 }, output);
      assert.equal(exitCode, 0, lines.join('\n'));
    });

    test(`random resources of ${name} keep the rules`, async () => {
      const { lines, output } = recorded();
      const flags = { fuzz: 5, seed: 1, jobs: 1 };
      assert.equal(await fuzzDefinitions([folder], flags, output), 0, lines.join('\n'));
    });
  }

  const secrets =
    /note: \w+: its read "secrets": the names are computed, so the rule is for all secrets; a rule with those in use as "resourceNames" is sufficient/;
  for (const name of ['reloader', 'keycloak'])
    test(`the rights of ${name} say that names of Secrets are computed`, async () => {
      const { lines, output } = recorded();
      const options = { name, serviceAccount: 'system/runner' };
      assert.equal(await rights([`${reachFolder(name)}/${name}.yaml`], options, output), 0);
      assert.match(lines.join('\n'), secrets);
    });
});
