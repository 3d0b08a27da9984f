import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createManifestCheck } from '#check';
import type { LocatedDefinition } from '#definition';
import { resultLines } from '../report.ts';
import { testConversions } from './test-conversions.ts';

const text = readFileSync('test/fixtures/valid/conversions.yaml', 'utf8');

/** The definition, after it has passed all static checks. */
function valid(changed: string): LocatedDefinition {
  const { documents, diagnostics } = createManifestCheck(undefined)({
    file: 'gate.yaml',
    text: changed,
  });
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === 'error'),
    [],
  );
  const [{ located, plan } = {}] = documents;
  assert.ok(located !== undefined && plan !== undefined);
  return located;
}

/** What is printed of the test of a changed definition. */
async function printed(replacements: readonly (readonly [string, string])[]): Promise<string> {
  let changed = text;
  for (const [from, to] of replacements) {
    assert.ok(changed.includes(from), from);
    changed = changed.replace(from, to);
  }
  const result = await testConversions(valid(changed));
  assert.ok(result !== undefined);
  return resultLines(result, { hasColor: false }).join('\n');
}

describe('testing/conversions', () => {
  test('every form of a rule is reversible', async () => {
    assert.equal(
      await printed([]),
      'PASS gate.yaml: conversions of gate (1000 objects there and back)',
    );
  });

  test('a boolean that becomes an enum is reversible', async () => {
    assert.equal(
      await printed([
        ['mode: { type: string, enum: [fast, slow] }', 'mode: { type: boolean }'],
        ['{ fast: Parallel, slow: Ordered }', '{ "true": Parallel, "false": Ordered }'],
      ]),
      'PASS gate.yaml: conversions of gate (1000 objects there and back)',
    );
  });

  test('a required field whose origin is optional is at its rule, with the smallest object side by side', async () => {
    const [line = ''] = text.match(/^ *replicas: .*$/m) ?? [];
    const report = await printed([
      [`properties:\n${line}`, `required: [replicas]\n                properties:\n${line}`],
    ]);
    assert.equal(
      report,
      `FAIL gate.yaml: conversions of gate
    gate.yaml:81:39: An object of version "v1alpha1" lacks a required field in "v1": "spec.replicas"
      = hint: Give the field a default in the schema of "v1", or require its value in "v1alpha1"
      version "v1alpha1"   version "v1"
      spec:                spec:
        hosts: []            hostObjects: []`,
    );
  });

  test('a text for an enum that is required loses its value, though the rule is valid', async () => {
    const report = await printed([
      ['{ type: string, enum: [fast, slow] }', '{ type: string, default: fast }'],
      [
        /strategy:\n.*\n.*properties: \{ type: (.*) \}\n/.exec(text)?.[0] ?? '?',
        'strategy: { type: string, enum: [Parallel, Ordered] }\n',
      ],
      ['spec.strategy.type', 'spec.strategy'],
      [
        'properties:\n                  replicas',
        'required: [strategy]\n                properties:\n                  replicas',
      ],
    ]);
    assert.match(report, /gate\.yaml:80:39: .* lacks a required field in "v1": "spec\.strategy"/);
    assert.match(report, /\n {8}mode: /);
  });

  test('a default is the value of a required field', async () => {
    const report = await printed([
      ['size: { type: integer }', 'size: { type: integer, default: 1 }'],
      [
        'properties:\n                  replicas',
        'required: [replicas]\n                properties:\n                  replicas',
      ],
    ]);
    assert.match(report, /^PASS/);
  });

  test('a definition without conversions has no such test', async () => {
    const located = valid(
      text.slice(0, text.indexOf('  conversions:')) + text.slice(text.indexOf('  children:')),
    );
    assert.equal(await testConversions(located), undefined);
  });

  test('another seed gives other objects, and a signal ends the test', async () => {
    const located = valid(text);
    assert.deepEqual((await testConversions(located, { seed: 7 }))?.failures, []);
    assert.equal(await testConversions(located, { signal: AbortSignal.abort() }), undefined);
  });
});
