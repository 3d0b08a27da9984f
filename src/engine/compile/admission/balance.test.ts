import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { balanceProblem } from './balance.ts';

describe('compile/admission/balance', () => {
  for (const expression of [
    'object.metadata.?name.orValue("(")',
    "[{'a': (1 + 2)}, {}]",
    "r'\\' + ')'",
    "br'\\' == b')'",
    "'''a\\''' ) ''' + 'b'",
    '"""a\\""" ) """',
    "'\\')'",
    '1 // )',
    '1 // it\'s "\n + 2',
  ])
    test(`${JSON.stringify(expression)} is balanced`, () => {
      assert.equal(balanceProblem(expression), undefined);
    });

  for (const [expression, message, at] of [
    ["1)}] + [JSONPatch{op: 'remove', path: '/spec', value: (1", 'Unexpected ")"', 1],
    ['(1]', 'Unexpected "]"', 2],
    ['size([1)', 'Unexpected ")"', 7],
    ['a + (b', '"(" is not closed', 4],
    ["'a", "Unexpected '", 0],
    ["br'\\' )] + [(br'\\'", 'Unexpected ")"', 6],
    ["'''a\\''' ''' )] + [(''' ''' '''", 'Unexpected ")"', 13],
    ['1 \\ 2', 'Unexpected \\', 2],
  ] as const)
    test(`${JSON.stringify(expression)} is not`, () => {
      const found = balanceProblem(expression);
      assert.equal(found?.message, `${message} in the expression`);
      assert.equal(found?.at, at);
    });
});
