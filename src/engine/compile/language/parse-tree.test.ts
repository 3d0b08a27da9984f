import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseTree } from './parse-tree.ts';
import { type SyntaxNode, walk } from './syntax-tree.ts';
import { scanExpression } from './tokens.ts';

function nodesOf(source: string): readonly SyntaxNode[] {
  const scan = scanExpression(`${source}}`, 0);
  const { tree } = parseTree(source, scan.kind === 'closed' ? scan.tokens : []);
  return tree === undefined ? [] : [...walk(tree)];
}

describe('compile/language syntax trees', () => {
  test('are those of JSONata, before they are rewritten', () => {
    const types = nodesOf('a & b ?? [c]').map(({ type }) => type);
    assert.deepEqual(types.slice(0, 2), ['condition', 'function']);
    assert.ok(types.includes('binary'));
  });

  test('contain their regular expressions, also where JSONata drops them', () => {
    const literals = nodesOf('$match(a, /[}]+/i) ?? $match(b, /(c)/)')
      .filter(({ type }) => type === 'regex')
      .map(({ value }) => String(value));
    assert.deepEqual(literals.toSorted(), ['/(c)/g', '/[}]+/gi', '/[}]+/gi']);
  });

  test('exist for expressions that parse only', () => {
    assert.deepEqual(nodesOf('a +'), []);
    assert.deepEqual(nodesOf('"a'), []);
  });
});
