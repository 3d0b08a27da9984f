import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expressionOf, testScope } from '../../../../test/support/compile/test-scope.ts';
import { findBranches } from './branches.ts';

/** The branches as `kind text`. */
function branchesOf(leaf: string) {
  const { all, taken } = findBranches(expressionOf(leaf));
  const named = (branches: typeof all) =>
    branches.map(({ kind, offset }) => `${kind} ${leaf.slice(offset).match(/^["$(]*[\w.]+/)?.[0]}`);
  return {
    all: named(all),
    taken: async (root: Record<string, unknown>) => named(await taken(testScope(root))),
  };
}

describe('compile/language/branches', () => {
  for (const [leaf, all, root, taken] of [
    ['${ spec.a }', [], {}, []],
    ['${ a ? b : c }', ['if b', 'else c'], { a: true }, ['if b']],
    ['${ a ? b : c }', ['if b', 'else c'], { a: false }, ['else c']],
    ['${ a ? b }', ['if b', 'else a'], { a: true, b: 1 }, ['if b']],
    ['${ a ? b }', ['if b', 'else a'], { b: 1 }, ['else a']],
    ['${ a ?? b }', ['value a', 'default b'], { a: 1 }, ['value a']],
    ['${ a ?? b }', ['value a', 'default b'], { b: 1 }, ['default b']],
    ['${ a ?? b }', ['value a', 'default b'], { a: null }, ['default b']],
    ['${ a ?: b }', ['value a', 'default b'], { a: 0 }, ['default b']],
    ['${ a ?: b }', ['value a', 'default b'], { a: 1 }, ['value a']],
    [
      '${ a ? b : c ? d : e }',
      ['if b', 'else c', 'if d', 'else e'],
      { c: true },
      ['else c', 'if d'],
    ],
    [
      '${ (a ? b : c) ?? d }',
      ['value (a', 'default d', 'if b', 'else c'],
      { a: true },
      ['default d', 'if b'],
    ],
    [
      '${ list.(a ?? b) }',
      ['value a', 'default b'],
      { list: [{ a: 1 }, { b: 1 }] },
      ['default b', 'value a'],
    ],
    [
      '${ ($f := function($x) { $x ? $sum([b]) : $sum([c]) }; $f(a)) }',
      undefined,
      { a: true },
      ['if $sum'],
    ],
    ['size ${ a ?? 1 } of ${ b }', ['value a', 'default 1'], {}, ['default 1']],
    ['{{#if a}}x{{else}}y{{/if}}', [], {}, []],
  ] as const) {
    test(`${leaf} with ${JSON.stringify(root)}`, async () => {
      const branches = branchesOf(leaf);
      if (all !== undefined) assert.deepEqual(branches.all, all);
      assert.deepEqual(await branches.taken(root), taken);
    });
  }
});
