import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { evaluate, expressionOf, testScope } from '../../../../test/support/compile/test-scope.ts';
import type { ExpressionError } from './evaluation-error.ts';

const root = {
  spec: {
    name: 'web',
    zero: 0,
    no: false,
    none: null,
    list: [{ k: 'v', on: true }],
    empty: [],
    nested: [[1, 2], [3]],
    args: ['x'],
    labels: { app: 'web' },
    'image-tag': 'v1',
  },
};

describe('compile/language quirks of JSONata', () => {
  for (const [source, expected] of [
    ['spec.labels', { app: 'web' }],
    ['{"a": {"b": spec.list[k = "v"]}}', { a: { b: { k: 'v', on: true } } }],
    ['[spec.list[on].k]', ['v']],
    ['[spec.list[on = false].k]', []],
    ['$sort(spec.args)', ['x']],
    ['spec.list.k[]', ['v']],
    ['spec.list', [{ k: 'v', on: true }]],
    ['spec.empty', []],
    ['spec.nested', [[1, 2], [3]]],
    ['$map([1, 2], function($x){ {"n": $x} })', [{ n: 1 }, { n: 2 }]],
    ['[1..3]', [1, 2, 3]],
    ['spec.`image-tag`', 'v1'],
    ['spec.none', undefined],
    ['spec.nothing', undefined],
    ['(null)', undefined],
    ['[null, 1]', [null, 1]],
    ['{"a": null}', { a: null }],
    ['spec.none ?? 7', 7],
    ['(spec.none ?? 7) + 1', 8],
    ['(spec.nothing.below ?? 7) + 1', 8],
    ['spec.zero ?? 7', 0],
    ['(spec.no ?? true) = false', true],
    ['spec.zero ?: 7', 7],
    ['spec.nothing ?: "x"', 'x'],
    ['spec.nothing ?? spec.none ?? "x"', 'x'],
    ['($match(spec.name, /w(.)b/) ?? 1).groups', ['e']],
    ['$replace("a}b]", /[}\\]]/, "-")', 'a-b-'],
    ['$contains("{/", /\\{\\// ) and $contains("a", /A/i)', true],
    ['($f := function($x){ $x ?? $string($x) ?? "none" }; $f(spec.none) & $f("a"))', 'nonea'],
    ['($f := function($x){ $lookup($x, "a") ?? "none" }; $f(spec) & $f({"a": 1}))', 'none1'],
    ['"x-" & spec.name & "-" & spec.zero & spec.no', 'x-web-0false'],
    ['$base64encode("päss€")', 'cMOkc3Pigqw='],
    ['$base64decode("cMOkc3Pigqw=")', 'päss€'],
    ['0.1 + 0.2 & ""', '0.3'],
  ] as const) {
    test(`${source} gives ${JSON.stringify(expected)}`, async () => {
      assert.deepEqual(await evaluate(source, root), expected);
    });
  }

  for (const [source, missing] of [
    ['"x-" & spec.nothing', 'spec.nothing'],
    ['"x-" & spec.none & "-y"', 'spec.none'],
    ['spec.nothing & "x"', 'spec.nothing'],
    ['"a" & (spec.b ? 1) & "c"', '(spec.b ? 1)'],
    ['$uppercase("a" & spec.list[k = "w"].k)', 'spec.list[k = "w"].k'],
    ['"a" & $lookup(spec, "b") = "c"', '$lookup(spec, "b")'],
    ['[1].("a" & spec.b)', 'spec.b'],
    ['{"k": "a" & spec . b}', 'spec . b'],
  ] as const) {
    test(`${source} names its missing part`, async () => {
      await assert.rejects(
        async () => evaluate(source, root),
        (error: ExpressionError) => {
          assert.equal(error.code, 'missing-value');
          assert.ok(error.message.startsWith(`Missing value "${missing}" in `), error.message);
          return true;
        },
      );
    });
  }

  for (const source of [
    '1/0',
    '{"a": 1/0}',
    '{"__proto__": {"x": 1}}',
    '$parseJson("{\\"__proto__\\": 1}")',
    'function($x){ $x }',
    '[function($x){ $x }]',
    '$sum',
    '{"f": $sum}',
    '-spec.name',
    'spec.name + 1',
    'spec.name < 1',
    '$error("told by the author")',
    '$sum(spec.name)',
    '$toMillis("yesterday")',
  ]) {
    test(`${source} is an error`, async () => {
      await assert.rejects(async () => evaluate(source, root), { code: 'evaluation-failed' });
    });
  }

  test('results are plain objects and lists', async () => {
    const result = await evaluate('{"list": [1..3].{"n": $}, "one": spec.list[on]}', root);
    assert.deepStrictEqual(structuredClone(result), {
      list: [{ n: 1 }, { n: 2 }, { n: 3 }],
      one: { k: 'v', on: true },
    });
    assert.deepEqual(Object.keys((result as { list: unknown[] }).list), ['0', '1', '2']);
    assert.equal(Object.getPrototypeOf(result), Object.prototype);
  });

  for (const source of ['spec', 'spec.list', '$map(spec.list, function($x){ $x })', '$$']) {
    test(`the result of ${source} shares nothing with the input`, async () => {
      const shared = new Set<unknown>();
      const collect = (value: unknown, visit: (object: object) => void): void => {
        if (typeof value !== 'object' || value === null) return;
        visit(value);
        for (const field of Object.values(value)) collect(field, visit);
      };
      collect(root, (object) => shared.add(object));
      collect(await evaluate(source, root), (object) => assert.ok(!shared.has(object)));
    });
  }

  test('errors contain no values, except literals of the author', async () => {
    const secret = { spec: { password: 'hunter2' } };
    for (const source of [
      'spec.password + 1',
      '$number(spec.password)',
      '$toMillis(spec.password)',
      '$error(spec.password)',
      '$error("it is " & spec.password)',
      '$assert(false, spec.password)',
      '{spec: 1}',
      '$parseJson(spec.password)',
      '$parseYaml(spec.password)',
      '$quantity(spec.password)',
      '$formatBase(1, 99)',
    ]) {
      await assert.rejects(
        async () => evaluate(source, secret),
        (error: Error) => !error.message.includes('hunter2'),
        source,
      );
    }
    await assert.rejects(async () => evaluate('$assert(false, "Say a size")', secret), {
      message: 'Say a size in "$assert(false, "Say a size")"',
    });
  });

  test('an expression without JSONata throws synchronously', () => {
    const expression = expressionOf('${ spec }');
    assert.throws(() => expression.evaluate(testScope({ spec: { n: Number.NaN } })), {
      code: 'evaluation-failed',
    });
  });
});
