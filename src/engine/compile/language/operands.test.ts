import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expressionOf, testScope } from '../../../../test/support/compile/test-scope.ts';

const root = { size: 3, text: 'x', list: [1, 2], texts: ['a', 'b'], map: { b: 1 } };

/** Expressions that fail, with what they need. */
const failing: readonly (readonly [source: string, ...needs: readonly string[]])[] = [
  ['$length(texts)', '$length: string'],
  ['$length(size)', '$length: string'],
  ['texts ~> $length()', '$length: string'],
  ['$uppercase(size)', '$uppercase: string'],
  ['$substringBefore(size, "-")', '$substringBefore: string', '$substringBefore: string'],
  ['$substringBefore(text, size)', '$substringBefore: string', '$substringBefore: string'],
  ['$substring(text, text)', '$substring: string', '$substring: number'],
  ['$pad(text, text)', '$pad: string', '$pad: number'],
  ['$replace(size, "a", "b")', '$replace: string'],
  ['$split(size, ",")', '$split: string'],
  ['$trim(size)', '$trim: string'],
  ['$toMillis(size)', '$toMillis: string'],
  ['$abs(text)', '$abs: number'],
  ['$floor(text)', '$floor: number'],
  ['$round(size, text)', '$round: number', '$round: number'],
  ['$power(size, text)', '$power: number', '$power: number'],
  ['$formatNumber(text, "0")', '$formatNumber: number', '$formatNumber: string'],
  ['$formatBase(size, text)', '$formatBase: number', '$formatBase: number'],
  ['$fromMillis(text)', '$fromMillis: number'],
  ['$sum(texts)', '$sum: list of numbers'],
  ['$max(text)', '$max: list of numbers'],
  ['$join(list, ",")', '$join: list of strings'],
  ['text + 1', '+: number', '+: number'],
  ['size * text', '*: number', '*: number'],
  ['map / 2', '/: number', '/: number'],
];

/** Expressions without an operand that must have one type. */
const without = [
  '$count(texts)',
  '$string(size)',
  '$join',
  '"a" + text',
  'texts.$length()',
  'texts.$substring(0, 1)',
  'image-text',
  '($length := $count; $length(texts))',
  'size = text',
  'size & text',
];

describe('compile/language/operands', () => {
  for (const [source, ...needs] of failing)
    test(`${source} needs ${needs.join(' and ')}, and fails`, async () => {
      const { operands, evaluate } = expressionOf(`\${ ${source} }`);
      assert.deepEqual(
        operands.map(({ of, expected }) => `${of}: ${expected}`),
        needs,
      );
      await assert.rejects(async () => evaluate(testScope(root)));
    });

  for (const source of without)
    test(`${source} needs no type`, () => {
      assert.deepEqual(expressionOf(`\${ ${source} }`).operands, []);
    });

  test('the offset of an operand is that in the leaf', () => {
    const leaf = 'a ${ $length(texts) } b';
    const [operand] = expressionOf(leaf).operands;
    assert.equal(operand?.results[0]?.offset, leaf.indexOf('texts'));
  });
});
