import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scanExpression } from './tokens.ts';

describe('compile/language tokens', () => {
  for (const [text, end] of [
    ['spec.size}', 9],
    ['{"a": {"b": 1}}} tail', 15],
    ['"}" & \'}\'}', 9],
    ['"\\"}"}', 5],
    ['`odd}name`.x}', 12],
    ['/* } */ a}', 9],
    ['$match(a, /[}]{2}/)}', 19],
    ['$contains(a, /\\/}/)}', 19],
    ['a / b } / c', 6],
    ['(a) / 2 & "}"}', 13],
    ['a[0] / b[1] / 2}', 15],
    ['* / 2}', 5],
    ['items.% / 2}', 11],
    ['a and /}/("x")}', 14],
    ['and / 2}', 7],
    ['$f(/a}/i)}', 9],
    ['function($x){ $x }}', 18],
    ['1.5e3 / 2}', 9],
  ] as const) {
    test(`finds the brace that closes "${text}"`, () => {
      const scan = scanExpression(text, 0);
      assert.deepEqual([scan.kind, scan.kind === 'closed' && scan.end], ['closed', end]);
    });
  }

  for (const [text, what, offset] of [
    ['a + b', 'expression', 0],
    ['{ "a": 1 ', 'expression', 0],
    ['a & "b}', 'string', 4],
    ["a & 'b}", 'string', 4],
    ['a.`b}', 'name', 2],
    ['a /* }', 'comment', 2],
    ['$match(a, /b})}', 'regular expression', 10],
  ] as const) {
    test(`reports what is not closed in "${text}"`, () => {
      const { tokens: _, ...scan } = scanExpression(text, 0);
      assert.deepEqual(scan, { kind: 'open', what, offset });
    });
  }

  test('starts at the offset and gives offsets in the whole text', () => {
    const scan = scanExpression('x-${ a.b }', 4);
    assert.equal(scan.kind, 'closed');
    assert.deepEqual(
      scan.tokens.map(({ text, start, end }) => [text, start, end]),
      [
        ['a', 5, 6],
        ['.', 6, 7],
        ['b', 7, 8],
      ],
    );
  });
});
