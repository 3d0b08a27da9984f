import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import jsonata from 'jsonata';
import { freezeDeep } from '#util/json.ts';
import { expressionOf, testScope } from '../../../../test/support/compile/test-scope.ts';

function createInput() {
  return {
    empty: [],
    one: ['x'],
    list: [
      { n: 'a', v: [1] },
      { n: 'b', v: [] },
    ],
    nested: [[1, 2], [3], []],
    object: { n: 'a', call: { x: 1 } },
  };
}

const legal = [
  'empty[]',
  'one[]',
  'list.v[]',
  'list[]',
  'list[0].v[]',
  'list[n = "b"].v[]',
  'object.n[]',
  'missing[]',
  'nested[]',
  'nested[0][]',
  'nested[1][]',
  'object.(call)[]',
  'list.[n][]',
  'list[0].[n, v][]',
  '(list)[]',
  'list{n: v}',
  'empty{n: v}',
  'empty{"k": 1}',
  'object{n: call.x}',
  'list[n = "a"]{n: $count($)}',
  '(empty){"k": n}',
  '$.empty{"k": n}',
  '$$.list.v{"k": $}',
  '$sort(empty)',
  'list^(n)[]',
  'list^(n){n: v}',
  'list@$l.nested[]',
  'list#$i{n: $i}',
  '$append(empty, 1)',
  '$reverse(one)',
  '$merge(list)',
  '$map(empty, function($x){ $x })',
  'list.v ~> $sum',
  '($f := function($x){ $x.n }; $f(list[0]))',
  '($f := function($x, $n){ $n = 0 ? $x : $f($x, $n - 1) }; $f(one, 500))',
  '(function($x){ $x * 2 })(4)',
  '($f := $uppercase; $f("a"))',
  '($sum := function($x){ "mine" }; $sum(list))',
];

describe('compile/language input', () => {
  for (const source of legal) {
    test(`${source} gives what JSONata gives, and does not modify frozen input`, async () => {
      const expected = plain(await jsonata(source).evaluate(createInput()));
      const frozen = testScope(freezeDeep(createInput()));
      assert.deepEqual(plain(await expressionOf(`\${ ${source} }`).evaluate(frozen)), expected);
    });
  }

  for (const source of [
    'object.(call)()',
    '(object)()',
    '$item()',
    '($x := object; $x(1))',
    '(list)(1)',
  ]) {
    test(`${source} calls no function, fails, and does not modify the input`, async () => {
      const input = createInput();
      const item = { name: 'i' };
      const expression = expressionOf(`\${ ${source} }`);
      await assert.rejects(async () => expression.evaluate(testScope(input, { item })), {
        code: 'evaluation-failed',
      });
      assert.deepEqual(input, createInput());
      assert.deepEqual(item, { name: 'i' });
    });
  }
});

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify({ value })).value;
}
