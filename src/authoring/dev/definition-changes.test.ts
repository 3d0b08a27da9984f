import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DesiredDefinition, Rejection } from '#runtime';
import { changedPaths } from '#util/changed-paths.ts';
import { definitionParser } from '../../../test/support/definition-parser.ts';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { definitionChanges } from './definition-changes.ts';

function wanted(name: string, body = '  children: []\n', rejection?: Rejection): DesiredDefinition {
  const text = thingDefinition(name, body, { group: `${name}.example.com` });
  const [located] = definitionParser.parse(text, `${name}.yaml`).definitions;
  assert.ok(located, text);
  return { located, ...(rejection && { rejection: rejection }) };
}

const rejection = (message: string): Rejection => ({ message, diagnostics: [] });

describe('dev/definition-changes', () => {
  test('lists new, removed and changed definitions', () => {
    const [a, b, c] = [wanted('aaa'), wanted('bbb'), wanted('ccc')];
    const edited = wanted('bbb', '  children: []\n  status: { size: "${ 1 }" }\n');
    assert.deepEqual(definitionChanges([a, b], [edited, c]), [
      'Operator "bbb" changed: status',
      'Operator "ccc" is new',
      'Operator "aaa" was removed; its resources and children stay',
    ]);
  });

  test('a save that changes nothing that counts is no news', () => {
    assert.deepEqual(definitionChanges([wanted('aaa')], [wanted('aaa')]), []);
  });

  test('that one keeps its previous revision is said once for each rejection', () => {
    const [first, second] = [rejection('first'), rejection('second')].map((each) =>
      wanted('aaa', undefined, each),
    );
    assert.ok(first && second);
    const said = ['Operator "aaa" keeps its previous revision'];
    assert.deepEqual(definitionChanges([wanted('aaa')], [first]), said);
    assert.deepEqual(definitionChanges([first], [first]), []);
    assert.deepEqual(definitionChanges([first], [second]), said);
    assert.deepEqual(definitionChanges([second], [wanted('aaa')]), []);
  });
});

describe('dev/changed-paths', () => {
  for (const [before, after, paths] of [
    [{ a: 1 }, { a: 1 }, []],
    [{ a: 1, b: 2 }, { b: 3, c: 4 }, ['a', 'b', 'c']],
    [{ list: [{ id: 'x', n: 1 }] }, { list: [{ id: 'y', n: 1 }] }, ['list.x', 'list.y']],
    [{ list: [{ id: 'x', n: 1 }, 5] }, { list: [{ id: 'x', n: 2 }, 5] }, ['list.x.n']],
    [{ list: [{ name: 'x', n: 1 }] }, { list: [{ name: 'x', n: 2 }] }, ['list.x.n']],
    [{ a: { b: 1 } }, { a: [1] }, ['a.b', 'a.0']],
    [{ a: null }, { a: {} }, ['a']],
  ] as const) {
    test(`from ${JSON.stringify(before)} to ${JSON.stringify(after)}: ${paths.join(' ')}`, () => {
      assert.deepEqual(changedPaths(before, after), paths);
    });
  }
});
