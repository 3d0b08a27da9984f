import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { evaluate } from '../../../../../test/support/compile/test-scope.ts';

async function print(name: string, map: unknown): Promise<unknown> {
  return evaluate(`$${name}(spec.map)`, { spec: { map } });
}

describe('compile/language/functions config formats', () => {
  for (const [name, map, expected] of [
    ['toIni', {}, ''],
    ['toIni', { b: 2, a: 'x = y', none: null }, 'a = x = y\nb = 2\n'],
    ['toIni', { s: { k: true }, a: [1, null, 'b'] }, 'a = 1\na = b\n\n[s]\nk = true\n'],
    ['toIni', { 'my section': {}, b: { c: 0.1 } }, '[b]\nc = 0.1\n\n[my section]\n'],
    ['toIni', { id: 9_007_199_254_740_993n }, 'id = 9007199254740993\n'],
    ['toProperties', {}, ''],
    ['toProperties', { b: { c: { d: 1 } }, a: 'x' }, 'a=x\nb.c.d=1\n'],
    ['toProperties', { list: ['a', null, 2, true], none: null }, 'list=a,2,true\n'],
    ['toProperties', { a: ' b\nc\\d\té€' }, 'a=\\ b\\nc\\\\d\\t\\u00e9\\u20ac\n'],
    ['toProperties', { 'a b=c:d': 1, '#k': 2, ' x y': 3 }, '\\ x\\ y=3\n\\#k=2\na\\ b\\=c\\:d=1\n'],
    ['toProperties', { id: 9_007_199_254_740_993n }, 'id=9007199254740993\n'],
    ['toToml', {}, '\n'],
    [
      'toToml',
      { b: { c: [1, 2.5] }, a: 'x\n"y"', none: null },
      'a = "x\\n\\"y\\""\n\n[b]\nc = [ 1, 2.5 ]\n',
    ],
    ['toToml', { id: 9_007_199_254_740_993n }, 'id = 9007199254740993\n'],
    ['toToml', { l: [{ b: 1, a: null }, { a: [true] }] }, '[[l]]\nb = 1\n\n[[l]]\na = [ true ]\n'],
    ['toToml', { 'a.b c': { é: 1 } }, '["a.b c"]\n"é" = 1\n'],
  ] as const) {
    test(`$${name} of a map with ${Object.keys(map).join(', ') || 'no field'}`, async () => {
      assert.equal(await print(name, map), expected);
    });
  }

  for (const [name, map] of [
    ['toIni', { a: 'b\nevil = 1' }],
    ['toIni', { 'a\nevil': 1 }],
    ['toIni', { a: 'b\revil = 1' }],
    ['toIni', { 'a=b': 1 }],
    ['toIni', { '[x]': 1 }],
    ['toIni', { 'x]': { a: 1 } }],
    ['toIni', { '#a': 1 }],
    ['toIni', { ' a': 1 }],
    ['toIni', { '': 1 }],
    ['toIni', { a: { b: { c: 1 } } }],
    ['toIni', 'text'],
    ['toProperties', { a: [[1]] }],
    ['toProperties', { a: { b: 1 }, 'a.b': 2 }],
    ['toProperties', [1]],
    ['toToml', { a: [null] }],
    ['toToml', 'text'],
  ] as const) {
    test(`$${name} of ${JSON.stringify(map)} is an error without a value`, async () => {
      await assert.rejects(
        async () => print(name, map),
        (error: Error & { code: string }) =>
          error.code === 'evaluation-failed' && !error.message.includes('evil'),
      );
    });
  }
});
