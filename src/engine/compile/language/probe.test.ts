import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expressionOf, testScope } from '../../../../test/support/compile/test-scope.ts';
import { type SyntaxNode, walk } from './syntax-tree.ts';

/** Marks the paths of one name. */
function names(tree: SyntaxNode): ReadonlyMap<SyntaxNode, string> {
  const marks = new Map<SyntaxNode, string>();
  for (const node of walk(tree)) {
    const [step] = node.steps ?? [];
    if (node.type === 'path' && node.steps?.length === 1) marks.set(node, String(step?.value));
  }
  return marks;
}

function probeOf(source: string): (root: Record<string, unknown>) => Promise<readonly string[]> {
  const probe = expressionOf(`\${ ${source} }`).probe?.(names);
  assert.ok(probe);
  return async (root) => [...(await probe(testScope(root))).keys()];
}

describe('compile/language/probe', () => {
  for (const [source, root, expected] of [
    ['a ? b : c', { a: true }, ['a', 'b']],
    ['a ? b : c', { a: false }, ['a', 'c']],
    ['a ? (b ? c : d) : e', { a: true }, ['a', 'b', 'd']],
    ['[a, b] ~> $count', {}, ['a', 'b']],
    ['(a ? b & "x" : "y") & c', { a: true, b: 1, c: 1 }, ['a', 'b', 'c']],
    ['a or b', { a: true }, ['a']],
    ['($f := function($x) { $x ? b : c }; $f(a))', { a: true }, ['b', 'a']],
    ['a[x].y ? b : c', { a: [{ x: true, y: 1 }] }, ['x', 'b']],
  ] as const) {
    test(`returns what ${source} reaches with ${JSON.stringify(root)}`, async () => {
      assert.deepEqual(await probeOf(source)(root), expected);
    });
  }

  test('concurrent evaluations are independent', async () => {
    const probe = probeOf('a ? b : c');
    assert.deepEqual(await Promise.all([probe({ a: true }), probe({}), probe({ a: true })]), [
      ['a', 'b'],
      ['a', 'c'],
      ['a', 'b'],
    ]);
  });

  test('a probe does not change the expression', async () => {
    const expression = expressionOf('${ $sum([a ? b : c]) }');
    await expression.probe?.(names)(testScope({ a: true, b: 2 }));
    assert.equal(await expression.evaluate(testScope({ a: true, b: 3 })), 3);
  });
});
