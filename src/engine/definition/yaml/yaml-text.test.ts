import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseYaml, printYaml, YamlError } from './yaml-text.ts';

describe('definition/yaml/yaml-text', () => {
  const values = [
    null,
    { b: [1, 'yes', '012', null, { c: true }], a: 'two\nlines\n' },
    ['no', 'on', '1e3', '12:30', '', ' a', '- b', 'c: d', 'e #f', '{{ g }}', '${ h }', '~', '@i'],
    { 'key: odd': 'x'.repeat(200) },
    [],
    'text',
  ];
  for (const value of values) {
    test(`${JSON.stringify(value).slice(0, 60)} is the same after printing and parsing`, () => {
      assert.deepEqual(parseYaml(printYaml(value)), value);
    });
  }

  test('equal values give equal output, whatever the order of their fields', () => {
    assert.equal(printYaml({ b: 1, a: { d: 2, c: 3 } }), printYaml({ a: { c: 3, d: 2 }, b: 1 }));
  });

  test('values that YAML 1.1 reads differently are quoted', () => {
    assert.equal(printYaml({ a: 'yes', b: '012', c: 'off' }), 'a: "yes"\nb: "012"\nc: "off"\n');
  });

  test('shared values are printed without anchors', () => {
    const shared = { x: 1 };
    assert.equal(printYaml([shared, shared]), '- x: 1\n- x: 1\n');
  });

  test('JSON is YAML, and empty input is null', () => {
    assert.deepEqual(parseYaml('{"a": [1, "\\u0041"]}'), { a: [1, 'A'] });
    assert.equal(parseYaml(''), null);
  });

  const invalid = [
    ['a: [', /line 1, column \d+: Expected "\]"/],
    ['a: 1\n---\nb: 2', /Expected one YAML document, found "2"/],
    ['a: 1\na: 2', /line 2, column 1: Field "a" is defined twice/],
    ['a: !!binary aGk=', /Tag "tag:yaml.org,2002:binary" is not supported/],
    ['a: 12345678901234567890', /"12345678901234567890" cannot be represented exactly/],
    ['a: .nan', /".nan" cannot be represented exactly/],
    ['__proto__: { a: 1 }', /cannot be named "__proto__"/],
    ['a: &a [*a]', /Alias "\*a" contains itself/],
  ] as const;
  for (const [text, message] of invalid) {
    test(`"${text.replaceAll('\n', '\\n')}" is rejected with its position`, () => {
      assert.throws(
        () => parseYaml(text),
        (error) => error instanceof YamlError && message.test(error.message),
      );
    });
  }

  test('an alias bomb is rejected', () => {
    const level = (n: number) => `l${n}: &l${n} [${`*l${n - 1},`.repeat(9)}]\n`;
    const bomb = `l0: &l0 [${'x,'.repeat(9)}]\n${[1, 2, 3, 4, 5, 6, 7].map(level).join('')}`;
    assert.throws(() => parseYaml(bomb), /Expected at most 200000 values/);
  });

  test('an alias bomb of a long string is rejected', () => {
    const bomb = `a: &a ${'x'.repeat(2000)}\nb:\n${'  - *a\n'.repeat(1000)}`;
    assert.throws(() => parseYaml(bomb), /Expected at most 1000000 characters from aliases/);
  });

  test('many aliases of short strings are parsed', () => {
    const text = `a: &a x\nb:\n${'  - *a\n'.repeat(20_000)}`;
    assert.deepEqual(parseYaml(text), { a: 'x', b: new Array(20_000).fill('x') });
  });

  test('60000 fields of one map are read, and a duplicate at the end is reported', () => {
    const text = Array.from({ length: 60_000 }, (_, index) => `k${index}: 1`).join('\n');
    assert.equal(Object.keys(parseYaml(text) as object).length, 60_000);
    assert.throws(
      () => parseYaml(`${text}\nk7: 1`),
      /line 60001, column 1: Field "k7" is defined twice/,
    );
  });
});
