import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { syntaxTreeOf } from './parse-tree.ts';
import { walk } from './syntax-tree.ts';

describe('compile/language syntax trees', () => {
  test('are those of JSONata, before they are rewritten', () => {
    const types = [...walk(syntaxTreeOf('a & b ?? [c]'))].map(({ type }) => type);
    assert.deepEqual(types.slice(0, 2), ['condition', 'function']);
    assert.ok(types.includes('binary'));
  });

  test('have their regular expressions, also where JSONata loses them', () => {
    const literals = [...walk(syntaxTreeOf('$match(a, /[}]+/i) ?? $match(b, /(c)/)'))]
      .filter(({ type }) => type === 'regex')
      .map(({ value }) => String(value));
    assert.deepEqual(literals.toSorted(), ['/(c)/g', '/[}]+/gi', '/[}]+/gi']);
  });

  test('exist for expressions that parse only', () => {
    assert.throws(() => syntaxTreeOf('a +'));
    assert.throws(() => syntaxTreeOf('"a'));
  });
});
