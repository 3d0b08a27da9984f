import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import type { LocatedDefinition } from '../../definition/index.ts';
import type { WantedSet } from '../wanted-definition.ts';
import { GoneDefinitions } from './gone-definitions.ts';

function located(name: string, kind = 'for: { apiVersion: v1, kind: Secret }'): LocatedDefinition {
  const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec: { ${kind} }
`;
  const [found] = definitionParser.parse(text, 'a.yaml').definitions;
  assert.ok(found);
  return found;
}

const crd =
  'crd: { group: a.example.com, names: { kind: A, plural: as }, scope: Namespaced, versions: [{ name: v1, schema: { openAPIV3Schema: { type: object } } }] }';

function setOf(...definitions: readonly LocatedDefinition[]): WantedSet {
  return { definitions: definitions.map((each) => ({ located: each })) };
}

function brokenOf({ broken = [] }: WantedSet): readonly string[] {
  return broken.map(({ definition }) => definition.name);
}

describe('runtime/removal/gone-definitions', () => {
  const recorded = new Map([
    ['old', [located('old')]],
    ['kind', [located('kind', crd)]],
    ['here', [located('here')]],
  ]);

  test('what is on record and not there is gone, unless a CRD remembers it', () => {
    const gone = new GoneDefinitions({ recorded: () => recorded, isAllKnown: () => true });
    assert.deepEqual(brokenOf(gone.with(setOf(located('here')))), ['old']);
  });

  test('what ran here and is not there any more is gone, until nothing is left of it or it comes back', () => {
    const gone = new GoneDefinitions({ recorded: () => new Map(), isAllKnown: () => true });
    assert.deepEqual(brokenOf(gone.with(setOf(located('a'), located('b')))), []);
    assert.deepEqual(brokenOf(gone.with(setOf(located('b')))), ['a']);
    assert.deepEqual(brokenOf(gone.with(setOf(located('a'), located('b')))), []);
    assert.deepEqual(brokenOf(gone.with(setOf())), ['a', 'b']);
    gone.finished('a');
    assert.deepEqual(brokenOf(gone.with(setOf())), ['b']);
  });

  test('while not everything has been read nothing is gone', () => {
    const gone = new GoneDefinitions({ recorded: () => recorded, isAllKnown: () => false });
    assert.deepEqual(brokenOf(gone.with(setOf())), []);
  });

  test('what is broken is told once', () => {
    const gone = new GoneDefinitions({ recorded: () => recorded, isAllKnown: () => true });
    const wanted = { ...setOf(), broken: [located('old'), located('here')] };
    assert.deepEqual(brokenOf(gone.with(wanted)), ['old', 'here']);
  });
});
