import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { httpKinds } from '#http-objects/kinds/index.ts';
import { ruleSections } from '../rules/index.ts';

const root = new URL('../../', import.meta.url).pathname;

describe('rules of the definition', () => {
  for (const { heading, rules } of ruleSections) {
    for (const { rule, shownBy } of rules) {
      test(`${heading}: "${rule}" is shown by tests that exist`, () => {
        assert.ok(shownBy.length > 0, 'a rule has tests');
        for (const each of shownBy) assertExists(each);
      });
    }
  }

  test('every field of the format is in a rule', () => {
    assert.deepEqual(unnamed(fieldNames()), []);
  });

  for (const { gvk, schema } of httpKinds)
    test(`every field of ${gvk.kind} is in a rule`, () => {
      const { properties } = schema() as { readonly properties: { readonly spec: unknown } };
      assert.deepEqual(unnamed(fieldsBelow(properties.spec)), []);
    });
});

function unnamed(names: readonly string[]): readonly string[] {
  const text = ruleSections.flatMap(({ rules }) => rules.map(({ rule }) => rule)).join('\n');
  return names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
}

function assertExists(evidence: string): void {
  const [path = '', title] = evidence.split(' › ');
  assert.ok(existsSync(root + path), `${path} is not there`);
  if (title === undefined) return;
  assert.ok(readFileSync(root + path, 'utf8').includes(title), `${path} has no "${title}"`);
}

/** Names of fields that only say what every Kubernetes user knows, or that are plain parts of a rule named otherwise. */
const plain = new Set(['kind', 'apiVersion', 'matchLabels', 'matchExpressions', 'key', 'operator']);

function fieldNames(): readonly string[] {
  const schema = JSON.parse(readFileSync(`${root}schemas/operator-definition.schema.json`, 'utf8'));
  const { crd: _, ...spec } = schema.properties.spec.properties;
  return fieldsBelow({ properties: spec });
}

function fieldsBelow(root: unknown): readonly string[] {
  const names = new Set<string>();
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('items' in node) collect(node.items);
    if (!('properties' in node) || typeof node.properties !== 'object') return;
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      if (!plain.has(name)) names.add(name);
      collect(child);
    }
  };
  collect(root);
  return [...names];
}
