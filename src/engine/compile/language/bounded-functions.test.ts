import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import jsonata from 'jsonata';
import { evaluate } from '../../../../test/support/compile/test-scope.ts';

const input = {
  text: 'The quick brown fox jumps, the lazy dog sleeps',
  words: ['pear', 'apple', 'fig', 'apple'],
  numbers: [3, 1, 2, 3, 1],
  objects: [
    { n: 'b', v: 2 },
    { n: 'a', v: 2 },
    { n: 'c', v: 1 },
    { n: 'b', v: 2 },
  ],
  object: { a: 1.1, b: [true, null, 'x'] },
};

describe('compile/language bounded functions', () => {
  for (const source of [
    '$string(object)',
    '$string(object, true)',
    '$string(0.1 + 0.2)',
    '$string(numbers)',
    '$string($sum)',
    'text.$string()',
    '$string(nothing)',
    '$clone(object)',
    '$pad("foo", 5)',
    '$pad("foo", -5)',
    '$pad("foo", 9, "#-")',
    '$pad("foo", -9, "#-")',
    '$pad("foo", 2)',
    '$pad("föö", 5, "é")',
    '"x".$pad(3)',
    '$join(words)',
    '$join(words, ", ")',
    '$join("one")',
    '$join(nothing, "x")',
    '$distinct(words)',
    '$distinct(objects)',
    '$distinct(numbers)[0]',
    '$distinct("x")',
    '$distinct(objects.n)',
    '$sort(words)',
    '$sort(numbers)',
    '$sort(objects, function($a, $b){ $a.v > $b.v })',
    '$sort(objects, function($a, $b){ $a.n < $b.n }).n',
    '$sort(nothing)',
    '$sort("x")',
    '$match(text, /q(u)(i)/)',
    '$match(text, /o/, 2).index',
    '$match(text, /(x)|(o)/).groups[0]',
    '$match(text, /zzz/)',
    'text.$match(/dog/).match',
    '$contains(text, /QUICK/i)',
    '$contains(text, "quick")',
    '$replace(text, "the", "a")',
    '$replace(text, "o", "0", 2)',
    '$replace(text, /o(\\w)/, "[$1$0$$]")',
    '$replace(text, /(\\w)(\\w)/, "$2$1", 3)',
    '$replace(text, /o/, "$3x$")',
    '$replace("abcdefghijklmno", /(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)/, "$11-$12-$1")',
    '$replace(text, /\\w+/, function($m){ $uppercase($m.match) & $m.start })',
    '$replace(text, /zzz/, "x")',
    '$replace(text, "o", "0", 0)',
    '$replace(nothing, "o", "0")',
    'text.$replace("quick", "slow")',
    '$split(text, " ")',
    '$split(text, " ", 2)',
    '$split(text, /[ ,]+/)',
    '$split(text, /[ ,]+/, 3)',
    '$split(text, /zzz/)',
    '$split("", " ")',
    '$split(text, "", 3)',
    '$toMillis("2026-01-02T03:04:05.678Z")',
    '$toMillis("02/01/2026", "[D]/[M]/[Y]")',
    '$toMillis("2026-01-02T03:04:05.006Z", "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]")',
    '$fromMillis(1767323045678)',
    '$fromMillis(1767323045678, "[FNn], [D1o] [MNn] [Y] [H01]:[m01]", "+0200")',
    '$parseInteger("twelve thousand", "w")',
    '$parseInteger("1,234", "#,##0")',
    '$formatInteger(1999, "I")',
    '$formatInteger(42, "w")',
    '$formatInteger(-7, "000")',
    '$formatNumber(1234.5, "#,##0.00")',
    '$formatNumber(0.14, "01%")',
    '$words := words; $map(words, $length)',
    '$map(words, $uppercase)',
    '$map(numbers, $string)',
    '$map(words, $pad(?, 6))',
  ]) {
    test(`${source} gives what the original gives`, async () => {
      const text = source.includes(':=') ? `(${source})` : source;
      const expected = plain(await jsonata(text).evaluate(input));
      assert.deepEqual(plain(await evaluate(text, input)), expected);
    });
  }

  for (const source of [
    '$sort(objects)',
    '$sort(["a", 1])',
    '$pad(1, 2)',
    '$join([1, 2])',
    '$replace(text, "", "x")',
    '$replace(text, /o/, function($m){ 1 })',
    '$replace(text, "o", "x", -1)',
    '$split(text, " ", -1)',
    '$match(text, /o/, -1)',
    '$match(text, /x*/)',
  ]) {
    test(`${source} fails as the original does`, async () => {
      await assert.rejects(async () => jsonata(source).evaluate(input));
      await assert.rejects(async () => evaluate(source, input), { code: 'evaluation-failed' });
    });
  }

  test('order strings by UTF-16 units, not by a locale', async () => {
    assert.deepEqual(await evaluate('$sort(["b", "a", "B", "ä", "Z"])'), ['B', 'Z', 'a', 'b', 'ä']);
  });
});

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify({ value })).value;
}
