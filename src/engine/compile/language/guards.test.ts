import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createTestParser,
  evaluate,
  expressionOf,
  testScope,
} from '../../../../test/support/compile/test-scope.ts';

const long = 'a'.repeat(200_000);
const root = {
  spec: {
    bomb: `${'a'.repeat(40)}!`,
    long,
    short: 'a'.repeat(60_000),
    lines: 'key: value\r\n'.repeat(5_000),
    size: 1e9,
    digits: '1'.repeat(150),
    names: Array.from({ length: 9_000 }, (_, index) => `name-${(index * 7919) % 9_000}`),
    objects: Array.from({ length: 3_000 }, (_, index) => ({ name: `n${index}`, n: index % 7 })),
  },
};

describe('compile/language guards', () => {
  for (const source of [
    '($f := function($x){ $f($x + 1) }; $f(0))',
    '($f := function($x){ 1 + $f($x + 1) }; $f(0))',
    '($f := function($x){ [$f($x), $f($x)] }; $f(0))',
    '[1..9999999]',
    '[1..20000]',
    '$map([1..9000], function($x){ $map([1..9000], function($y){ $x * $y }) })',
    '$pad("", spec.size, "x")',
    '$length($pad("", 2e8, "x") & "y")',
    '$replace(spec.long, "a", spec.long)',
    '$replace(spec.long, /a/, "b")',
    '$match(spec.long, /a/)',
    '$split(spec.long, "")',
    '$split(spec.names, "") ',
    '$join($map([1..9000], function($x){ spec.long }))',
    '$reduce([1..64], function($a, $b){ $a & $a }, "xx")',
    '$string($reduce([1..64], function($a, $b){ {"l": $a, "r": $a} }, {}))',
    '$reduce([1..64], function($a, $b){ {"l": $a, "r": $a} }, {})',
    '$hash($reduce([1..64], function($a, $b){ {"l": $a, "r": $a} }, {}))',
    '$toMillis(spec.digits, "[f1][f1][f1][f1][f1][f1]")',
    '$toMillis("1111111111111111111111111111111111111111", "[Y][M][D][H][m][s][f]x")',
    '$fromMillis(0, "[Y,9999999-9999999]")',
    '$formatNumber(1, $pad("", 100000, "0"))',
    '$formatNumber(1, "0", {"zero-digit": ""})',
    '$formatInteger(1e300, "I")',
    '$formatInteger(5e15, "I")',
    '$parseInteger(spec.long, "w")',
    '$randomString(257)',
    '$randomString(1e9)',
    '$parseJson(spec.long & spec.long)',
  ]) {
    test(`${source} ends with an error`, async () => {
      await assert.rejects(async () => evaluate(source, root), {
        name: 'ExpressionError',
      });
    });
  }

  for (const [source, expected] of [
    ['$contains(spec.bomb, /^(a+)+$/)', false],
    ['$contains(spec.bomb, /(a|aa)+$/)', false],
    ['$count($match(spec.bomb, /(x+x+)+y/))', 0],
    ['$replace(spec.bomb, /(a*)*b/, "")', root.spec.bomb],
    ['$count($split(spec.lines, /\\r?\\n/))', 5_001],
    ['$length($replace(spec.lines, /[aeiou]/, ""))', 40_000],
    ['$count($sort(spec.names))', 9_000],
    ['$sort(spec.names)[0]', 'name-0'],
    ['$count($distinct(spec.names))', 9_000],
    ['$count($keys(spec.objects{name: n}))', 3_000],
    ['$count([spec.objects.{"n": n}])', 3_000],
    ['$formatNumber(0, "0.0e0")', '0.0e0'],
  ] as const) {
    test(`${source} gives ${JSON.stringify(expected)?.slice(0, 60)}`, async () => {
      const expression = expressionOf(`\${ ${source} }`);
      assert.deepEqual(await expression.evaluate(testScope(root)), expected);
    });
  }

  for (const [what, source] of [
    ['deep brackets', `${'('.repeat(5_000)}1${')'.repeat(5_000)}`],
    ['long sources', `"${'x'.repeat(20_000)}"`],
    ['nested defaults', `${'('.repeat(30)}a${' ?? 1)'.repeat(30)}`],
    ['nested defaults in double brackets', `${'(('.repeat(15)}a${')) ?? 1'.repeat(15)}`],
    ['nested defaults in paths', `${'('.repeat(30)}a${' ?? 1).b'.repeat(30)}`],
    ['nested defaults in arguments', `${'$f(1, '.repeat(30)}a${' ?? 1) & "x"'.repeat(30)} ?? 1`],
    ['nested elvises', `${'['.repeat(30)}a${' ?: 1]'.repeat(30)}`],
    ['large trees', `[${'a.b.c.d,'.repeat(1_900)}1]`],
    ['large regular expressions', '$match(a, /((a{99}){99}){99}/)'],
  ] as const) {
    test(`rejects ${what} at parse time`, () => {
      const { problems } = createTestParser().parse(`\${ ${source} }`);
      assert.deepEqual(
        problems.map(({ code }) => code),
        ['forbidden-expression'],
      );
    });
  }

  for (const source of [
    `[${'(a) ?? $string(b) ?? 0, '.repeat(40)}1]`,
    `{${Array.from({ length: 40 }, (_, key) => `"k${key}": list[0] ?? (b ?: 1)`).join(', ')}}`,
    `${'a ?? '.repeat(60)}1`,
    `((((a ?? 1).b ?? 2).c ?? 3).d ?? 4)`,
  ]) {
    test(`allows ${source.slice(0, 40)}... with many defaults`, async () => {
      const { problems } = createTestParser().parse(`\${ ${source} }`);
      assert.deepEqual(problems, []);
    });
  }

  test('the input of a regular expression is limited', async () => {
    await assert.rejects(async () => evaluate('$contains(spec.long, /b/)', root), {
      code: 'limit-exceeded',
    });
  });

  test('a plain path to a string that is too long is an error', () => {
    assert.throws(
      () => {
        void evaluateNow('spec.text', { spec: { text: 'x'.repeat(1_100_000) } });
      },
      { code: 'limit-exceeded' },
    );
  });
});

function evaluateNow(source: string, scopeRoot: Record<string, unknown>): unknown {
  const { leaf } = createTestParser().parse(`\${ ${source} }`);
  assert.equal(leaf?.kind, 'value');
  return leaf.expression.evaluate({
    root: scopeRoot,
    self: scopeRoot,
    definition: { name: 'd', revision: 'r' },
    cluster: { name: 'c', labels: {} },
    now: '2026-01-01T00:00:00Z',
    randomText: (length) => 'r'.repeat(length),
  });
}
