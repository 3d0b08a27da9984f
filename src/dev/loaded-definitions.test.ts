import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { thingDefinition } from '../../test/support/definitions.ts';
import { createDefinitionParser, type LocatedDefinition } from '../definition/index.ts';
import { changedPaths } from './changed-paths.ts';
import { planReload } from './loaded-definitions.ts';

function located(name: string, body = '  children: []\n'): LocatedDefinition {
  const text = thingDefinition(name, body, { group: `${name}.example.com` });
  const [definition] = createDefinitionParser().parse(text, `${name}.yaml`).definitions;
  assert.ok(definition, text);
  return definition;
}

const mistakeIn = (file: string) =>
  ({
    severity: 'error',
    code: 'wrong-type',
    message: '',
    file,
    line: 1,
    column: 1,
    path: '',
  }) as const;

const names = (definitions: readonly LocatedDefinition[]) =>
  definitions.map(({ definition }) => definition.name);

describe('dev/loaded-definitions', () => {
  test('says what is new, what is gone, and where something has changed', () => {
    const [a, b, c] = [located('aaa'), located('bbb'), located('ccc')];
    const edited = located('bbb', '  children: []\n  status: { size: "${ 1 }" }\n');
    const { definitions, news } = planReload([a, b], [edited, c], []);
    assert.deepEqual(definitions, [edited, c]);
    assert.deepEqual(news, [
      'Operator "bbb" has changed: status.size',
      'Operator "ccc" is new',
      'Operator "aaa" is gone; what it has made stays',
    ]);
  });

  test('a save that changes nothing that counts is no news', () => {
    const { definitions, news } = planReload([located('aaa')], [located('aaa')], []);
    assert.deepEqual([names(definitions), news], [['aaa'], []]);
  });

  test('of a file with mistakes what ran goes on', () => {
    const [a, b] = [located('aaa'), located('bbb')];
    const { definitions, news } = planReload([a, b], [b], [mistakeIn('aaa.yaml')]);
    assert.deepEqual(names(definitions), ['bbb', 'aaa']);
    assert.deepEqual(news, ['Operator "aaa" goes on as it was']);
  });

  test('a warning is no mistake', () => {
    const warning = { ...mistakeIn('aaa.yaml'), severity: 'warning' } as const;
    assert.deepEqual(planReload([located('aaa')], [], [warning]).definitions, []);
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
