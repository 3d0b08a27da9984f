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

  test('equal values give equal text, whatever the order of their fields', () => {
    assert.equal(printYaml({ b: 1, a: { d: 2, c: 3 } }), printYaml({ a: { c: 3, d: 2 }, b: 1 }));
  });

  test('words that YAML 1.1 reads differently are quoted', () => {
    assert.equal(printYaml({ a: 'yes', b: '012', c: 'off' }), 'a: "yes"\nb: "012"\nc: "off"\n');
  });

  test('shared values are written out, without anchors', () => {
    const shared = { x: 1 };
    assert.equal(printYaml([shared, shared]), '- x: 1\n- x: 1\n');
  });

  test('JSON is YAML, and an empty text is null', () => {
    assert.deepEqual(parseYaml('{"a": [1, "\\u0041"]}'), { a: [1, 'A'] });
    assert.equal(parseYaml(''), null);
  });

  const mistakes = [
    ['a: [', /line 1, column \d+: Expected "\]"/],
    ['a: 1\n---\nb: 2', /Expected one YAML document, found "2"/],
    ['a: 1\na: 2', /line 2, column 1: Field "a" is there twice/],
    ['a: !!binary aGk=', /Tag "tag:yaml.org,2002:binary" is not supported/],
    ['a: 12345678901234567890', /"12345678901234567890" cannot be kept exactly/],
    ['a: .nan', /".nan" cannot be kept exactly/],
    ['__proto__: { a: 1 }', /cannot be named "__proto__"/],
    ['a: &a [*a]', /Alias "\*a" holds itself/],
  ] as const;
  for (const [text, message] of mistakes) {
    test(`"${text.replaceAll('\n', '\\n')}" is refused with its place`, () => {
      assert.throws(
        () => parseYaml(text),
        (error) => error instanceof YamlError && message.test(error.message),
      );
    });
  }

  test('a bomb of aliases is refused', () => {
    const level = (n: number) => `l${n}: &l${n} [${`*l${n - 1},`.repeat(9)}]\n`;
    const bomb = `l0: &l0 [${'x,'.repeat(9)}]\n${[1, 2, 3, 4, 5, 6, 7].map(level).join('')}`;
    assert.throws(() => parseYaml(bomb), /Expected at most 200000 values/);
  });

  test('a bomb of a long text is refused', () => {
    const bomb = `a: &a ${'x'.repeat(2000)}\nb:\n${'  - *a\n'.repeat(1000)}`;
    assert.throws(() => parseYaml(bomb), /Expected at most 1000000 characters by aliases/);
  });

  test('aliases of short texts are read, however many there are', () => {
    const text = `a: &a x\nb:\n${'  - *a\n'.repeat(20_000)}`;
    assert.deepEqual(parseYaml(text), { a: 'x', b: new Array(20_000).fill('x') });
  });

  test('60000 fields of one map are read, and told when the last one is there twice', () => {
    const text = Array.from({ length: 60_000 }, (_, index) => `k${index}: 1`).join('\n');
    assert.equal(Object.keys(parseYaml(text) as object).length, 60_000);
    assert.throws(
      () => parseYaml(`${text}\nk7: 1`),
      /line 60001, column 1: Field "k7" is there twice/,
    );
  });
});
