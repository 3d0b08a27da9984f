import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseJson } from '#util/exact-json.ts';
import {
  createTestParser,
  expressionOf,
  testScope,
} from '../../../../test/support/compile/test-scope.ts';
import { builtinFunctions } from './builtin-functions.ts';

// As the API server sends it.
const big = parseJson('9007199254740993') as bigint;
const root = {
  spec: { big, same: big, other: big + 2n, least: -big, list: [big, 1], map: { id: big } },
};

async function resultOf(text: string): Promise<unknown> {
  return expressionOf(text).evaluate(testScope(root));
}

describe('compile/language integers beyond 2^53', () => {
  for (const [source, expected] of [
    ['spec.big', big],
    ['spec.list', [big, 1]],
    ['spec.map', { id: big }],
    ['{"a": [spec.big]}', { a: [big] }],
    ['spec.list[0]', big],
    ['spec.list.{"n": $}', [{ n: big }, { n: 1 }]],
    ['$map(spec.list, function($x){ $x })', [big, 1]],
    ['$merge([spec.map, {"a": 1}])', { id: big, a: 1 }],
    ['$append(spec.big, 1)', [big, 1]],
    ['$lookup(spec.map, "id")', big],
    ['$each(spec.map, function($value){ $value })', big],
    ['spec.big ?? 1', big],
    ['spec.none ?? spec.big', big],
    ['true ? spec.big : 1', big],
    ['spec.big = spec.same', true],
    ['spec.big = spec.other', false],
    ['spec.big = 1', false],
    ['spec.big in spec.list', true],
    ['$exists(spec.big)', true],
    ['$type(spec.big)', 'number'],
    ['$string(spec.big)', '9007199254740993'],
    ['$string(spec.list)', '[9007199254740993,1]'],
    ['"id-" & spec.least', 'id--9007199254740993'],
    ['$json(spec.map)', '{"id":9007199254740993}'],
    ['$parseJson("[9007199254740993]")', [big, 1].slice(0, 1)],
    ['$name("id", spec.big)', 'id-9007199254740993'],
  ] as const) {
    test(`${source} keeps all digits`, async () => {
      assert.deepEqual(await resultOf(`\${ ${source} }`), expected);
      assert.deepEqual(await resultOf(`\${ (0; ${source}) }`), expected);
    });
  }

  test('texts keep all digits', async () => {
    assert.equal(
      await resultOf('{{ spec.big }} {{ json spec.map }}'),
      '9007199254740993 {"id":9007199254740993}',
    );
  });

  const copying = new Set(['append', 'exists', 'string', 'type']);
  const calls = [...builtinFunctions].flatMap(([name, { params }]) =>
    params.length === 0 || copying.has(name) ? [] : [`$${name}(spec.big)`],
  );
  for (const source of [
    ...['+', '-', '*', '/', '%', '<', '<=', '>', '>=', 'and', 'or'].flatMap((operator) =>
      ['1', 'spec.same'].flatMap((other) => [
        `spec.big ${operator} ${other}`,
        ...(operator === 'and' || operator === 'or' ? [] : [`${other} ${operator} spec.big`]),
      ]),
    ),
    ...[
      '-spec.big',
      'spec.big ? 1 : 2',
      '[0..spec.big]',
      'spec.list[$$.spec.big]',
      'spec.list^($)',
    ],
    ...['$sum(spec.list)', '$max(spec.list)', '$average(spec.list)', '$sort(spec.list)'],
    ...[
      '$join(spec.list)',
      '$map(spec.list, $floor)',
      '$reduce(spec.list, function($a, $b){ $a + $b })',
    ],
  ]) {
    test(`${source} is an error`, async () => {
      await assert.rejects(async () => resultOf(`\${ ${source} }`), { code: 'evaluation-failed' });
    });
  }

  for (const source of calls) {
    test(`${source} is an error`, async () => {
      const { leaf } = createTestParser().parse(`\${ ${source} }`);
      // Some need more arguments, which is an error at load.
      if (leaf !== undefined) await assert.rejects(() => resultOf(`\${ ${source} }`), source);
    });
  }

  test('a literal that JavaScript rounds is an error', () => {
    const { problems } = createTestParser().parse('${ spec.big = 9007199254740993 }');
    assert.deepEqual(
      problems.map(({ message, offset }) => [message, offset]),
      [['Expected an integer below 2^53', 14]],
    );
  });
});
