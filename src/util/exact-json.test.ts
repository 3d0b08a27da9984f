import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalJson } from './canonical-json.ts';
import { deepEqual } from './deep-equal.ts';
import { integerOf, parseJson } from './exact-json.ts';

describe('util/exact-json', () => {
  for (const text of [
    '{"a":9007199254740993}',
    '{"a":-9007199254740993}',
    '[9223372036854775807,-9223372036854775808]',
    '{"a":{"b":[1,{"c":9007199254740992}]}}',
    '9007199254740991',
    '-9007199254740993',
    '{"a":1.5,"b":[],"c":"9007199254740993","d":null,"e":true}',
    '{"a":": 9007199254740993"}',
  ]) {
    test(`${text} is printed as it was`, () => {
      assert.equal(JSON.stringify(parseJson(text)), text);
      assert.equal(canonicalJson(parseJson(text)), text);
    });
  }

  for (const [text, value] of [
    ['{"a": 9007199254740993}', { a: 9007199254740993n }],
    ['[ 9007199254740991,\n9007199254740992]', [9007199254740991, 9007199254740992n]],
    // As in Kubernetes: more than 64 bits are a floating-point number.
    ['[9223372036854775808]', [2 ** 63]],
    ['[1e20, 1234567890123456.5]', [1e20, 1234567890123456.5]],
    ['["1234567890123456789", 1234567890123456]', ['1234567890123456789', 1234567890123456]],
    ['{"__proto__": 9007199254740993}', JSON.parse('{"__proto__": 1}')],
  ] as const) {
    test(`${text} is read without a loss of digits`, () => {
      const parsed = parseJson(text);
      if (text.includes('__proto__'))
        assert.deepEqual(Object.keys(parsed as object), ['__proto__']);
      else assert.deepEqual(parsed, value);
    });
  }

  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
    ['{"-1":[12345678901234567.5,"\\"9007199254740993",', ']}'],
  ] as const)
    test(`integers inside ${open} have all digits where it is nested deeper than the stack`, () => {
      const levels = 200_000;
      const ends = '[9007199254740993,-9007199254740993,1e16,"9007199254740993"]';
      const text = `${open.repeat(levels)}${ends}${close.repeat(levels)}`;
      let value: unknown = parseJson(text);
      const containers = levels * close.length;
      for (let level = 0; level < containers; level++)
        value = Object.values(value as object).at(-1);
      assert.deepEqual(value, [9007199254740993n, -9007199254740993n, 1e16, '9007199254740993']);
    });

  test('a nested value in one part of a text changes no integer in another one', () => {
    const levels = 200_000;
    const nested = `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const value = parseJson(`{"__proto__":9007199254740993,"a":${nested}}`);
    assert.deepEqual(Object.entries(value as object)[0], ['__proto__', 9007199254740993n]);
  });

  test('equal integers are equal values, and copies of them too', () => {
    const [a, b] = [parseJson('{"a": 9007199254740993}'), parseJson('{"a":9007199254740993}')];
    assert.ok(deepEqual(a, b));
    assert.ok(deepEqual(a, structuredClone(b)));
    assert.ok(!deepEqual(a, parseJson('{"a":9007199254740992}')));
  });

  test('invalid JSON is an error', () => {
    assert.throws(() => parseJson('{"a":9007199254740993'), SyntaxError);
  });

  test('only integers of up to 64 bits are integers', () => {
    assert.deepEqual(
      ['7', '-9007199254740993', '9223372036854775807', '9223372036854775808'].map(integerOf),
      [7, -9007199254740993n, 9223372036854775807n, undefined],
    );
  });
});
