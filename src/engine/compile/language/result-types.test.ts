import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expressionOf, testScope } from '../../../../test/support/compile/test-scope.ts';

const root = { a: { size: 3, text: 'x', list: [1, 2], open: true } };

/** Expressions with the kinds of their possible results, the one that is taken first. */
const cases: readonly (readonly [source: string, ...kinds: readonly string[]])[] = [
  ['"x"', 'string'],
  ['1', 'number'],
  ['true', 'boolean'],
  ['[a.size]', 'list'],
  ['[1..a.size]', 'list'],
  ['{ "a": 1 }', 'map'],
  ['-a.size', 'number'],
  ['a.size + 1', 'number'],
  ['a.text & a.size', 'string'],
  ['a.size > 1 and a.open', 'boolean'],
  ['2 in a.list', 'boolean'],
  ['$count(a.list)', 'number'],
  ['$exists(a.none)', 'boolean'],
  ['$uppercase(a.text)', 'string'],
  ['$hash(a.text)', 'string'],
  ['$millis()', 'number'],
  ['$split(a.text, ",")', 'list'],
  ['a.open ? "x" : 1', 'string', 'number'],
  ['a.open ? { "a": 1 }', 'map'],
  ['a.none ?? [1]', 'list', 'path'],
  ['(a.open; "x")', 'string'],
  ['a.text', 'path'],
];

/** Expressions whose results their form does not show. */
const unknown = [
  'a.list[0]',
  '(a.list)[0]',
  '[a.none, a.size][0]',
  '(a.open ? [1] : [2])[0]',
  '{ "a": [1] }{ "b": a }',
  '$map(a.list, function($x) { $x })',
  '$keys(a)',
  '$reverse(a.list)',
  '($count := function($x) { $string($x) }; $count(a.list))',
  'null',
];

describe('compile/language/result-types', () => {
  for (const [source, taken, ...others] of cases)
    test(`${source} results in ${[taken, ...others].join(' or ')}`, async () => {
      const { results, evaluate } = expressionOf(`\${ ${source} }`);
      assert.deepEqual(results.map(({ kind }) => kind).sort(), [taken, ...others].sort());
      const value = await evaluate(testScope(root));
      if (taken !== 'path') assert.equal(kindOf(value), taken);
    });

  for (const source of unknown)
    test(`${source} has no known result`, () => {
      assert.deepEqual(expressionOf(`\${ ${source} }`).results, []);
    });

  for (const [source, mayBe] of [
    ['a.size / 2', true],
    ['(a.size + 2) / 2 + 1', true],
    ['a.size * 1.5', true],
    ['-(a.size / 2)', true],
    ['$max([1, a.size / 2])', true],
    ['$average(a.list)', true],
    ['$round(a.size / 2, 1)', true],
    ['10 / 2', false],
    ['10 / 4', true],
    ['a.size * 2 - 1', false],
    ['a.size % 2', false],
    ['$floor(a.size / 2)', false],
    ['$ceil(a.size / 2) + 1', false],
    ['$round(a.size / 2)', false],
    ['$round(a.size / 2, 0)', false],
    ['$count(a.list)', false],
  ] as const)
    test(`${source} may ${mayBe ? '' : 'not '}be a fraction`, () => {
      const { results } = expressionOf(`\${ ${source} }`);
      const found = results.map((each) => each.kind === 'number' && each.mayBeFraction === true);
      assert.deepEqual(found, [mayBe]);
    });

  test('the offset is that of the branch in the leaf', () => {
    const leaf = `\${ a.open ? "x" : a.size }`;
    const found = expressionOf(leaf).results.map(({ offset }) => leaf.slice(offset, offset + 3));
    assert.deepEqual(found, ['"x"', 'a.s']);
  });
});

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' ? 'map' : typeof value;
}
