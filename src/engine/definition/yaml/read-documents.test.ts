import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readDocuments } from './read-documents.ts';

/** Text, then the line, column and beginning of the message of each error, then a part of the hint of the first. */
const rows: readonly (readonly [
  string,
  readonly (readonly [number, number, string])[],
  string?,
])[] = [
  [
    'x: ${ a ? b : c }',
    [[1, 4, 'YAML ends this expression at ": "']],
    'Quote the whole value, or write it as a ">-" block',
  ],
  ['- ${ a ? b : c }', [[1, 3, 'YAML ends this expression at ": "']]],
  ['x: pre-${ {"a": 1} }', [[1, 8, 'YAML ends this expression at ": "']]],
  [
    'x: ${ a ?\n  b : c }\ny: [',
    [
      [1, 4, 'YAML ends this'],
      [3, 5, 'Expected "]"'],
    ],
  ],
  [
    'x: ${ a ? "b" : "c" }\ny: ${ d ? "e" : "f" }\nz: @g',
    [
      [1, 4, 'YAML ends'],
      [2, 4, 'YAML ends'],
      [3, 4, 'An unquoted value cannot start with "@"'],
    ],
  ],
  ['x: ${ a # b }', [[1, 4, 'YAML ends this expression at " #"']], 'Quote'],
  [
    'x: { y: ${ a }, z: ${b} }',
    [
      [1, 9, 'YAML parses the braces'],
      [1, 20, 'YAML parses the braces'],
    ],
    'Quote',
  ],
  ['x: [ ${ f(a, b) } ]', [[1, 6, 'YAML parses the braces']]],
  [
    'x: "${ $join(["a"], "b") }"',
    [[1, 5, 'The quotes around this expression']],
    'other quote character',
  ],
  ["x: '${ a = 'b' }'", [[1, 5, 'The quotes around this expression']]],
  ['x: {{ a }}', [[1, 5, 'Expected a field name']], '"{{" must be quoted'],
  ['x:\n\ty: 1', [[2, 1, 'Expected spaces for indentation, found a tab']]],
  ['x:\n\t- y: 1', [[2, 1, 'Expected spaces for indentation, found a tab']]],
  ['x: 1\nx: 2', [[2, 1, 'Field "x" is defined twice']]],
  [
    'x: { here: spec.rules[].port, there: b }',
    [[1, 22, 'Unexpected "["']],
    'must be quoted: "spec.rules[].port"',
  ],
  ['x: a: b', [[1, 4, 'An unquoted value cannot contain ": "']], 'Quote'],
  ['x: - a', [[1, 4, 'A list cannot start']], 'next line'],
  ['x: "a \\q"', [[1, 7, 'Unknown escape "\\q"']], 'single quotes'],
  ['x: "a', [[1, 6, 'Missing closing quote']]],
  ['x: *y', [[1, 4, 'Unknown alias "*y"']]],
  ['<<: { a: 1 }', [[1, 1, 'Merge keys']], 'vars'],
  ['%YAML 1.1\n---\na: 1', [[2, 1, 'Expected YAML 1.2']]],
  ['%FOO bar\n---\na: 1', [[1, 1, 'Unknown directive']]],
  ['['.repeat(5000), [[1, 0, 'The document is nested too deeply']]],
];

describe('definition/yaml/read-documents', () => {
  for (const [text, expected, hint] of rows) {
    test(`${JSON.stringify(text.slice(0, 60))} reports each error once`, () => {
      const { syntaxErrors } = readDocuments(text, 'a.yaml', 'definition');
      const places = syntaxErrors.map(({ line, column }) => [line, column]);
      assert.deepEqual(
        places,
        expected.map(([line, column], index) => [line, column || places[index]?.[1]]),
      );
      for (const [index, [, , message]] of expected.entries()) {
        assert.ok(syntaxErrors[index]?.message.startsWith(message), syntaxErrors[index]?.message);
      }
      assert.ok((syntaxErrors[0]?.hint ?? '').includes(hint ?? ''), syntaxErrors[0]?.hint);
    });
  }

  test('correct input has no errors', () => {
    const text =
      'a: ${ b }\nc: "${ d ? e : f }"\ng: >-\n  ${ h ? i : j } # k\nl: $${m\no: ${ p } # q\n';
    const { documents, syntaxErrors } = readDocuments(text, 'a.yaml', 'definition');
    assert.deepEqual(syntaxErrors, []);
    assert.deepEqual(documents[0]?.value, {
      a: '${ b }',
      c: '${ d ? e : f }',
      g: '${ h ? i : j } # k',
      l: '$${m',
      o: '${ p }',
    });
  });

  test('the rest of the file after a broken expression is parsed at the right positions', () => {
    const [document] = readDocuments(
      'x: ${ a ?\n  b : c }\ny: { z: ${ d.e.f } }\nlast: 1\n',
      '',
      'definition',
    ).documents;
    assert.deepEqual(document?.value, { x: '${null }', y: { z: '${null}' }, last: 1 });
    assert.deepEqual(document?.source.valueAt('/last'), { line: 4, column: 7 });
  });

  test('empty documents are omitted', () => {
    assert.deepEqual(
      readDocuments('# only a comment\n---\n---\n', 'a.yaml', 'definition').documents,
      [],
    );
  });

  for (const [what, text, line, column] of [
    ['lists', `${'- '.repeat(251)}b`, 1, 501],
    [
      'maps',
      Array.from({ length: 251 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
      251,
      251,
    ],
  ] as const)
    test(`${what} that are nested deeper than 250 are an error`, () => {
      const { documents, syntaxErrors } = readDocuments(`${text} 1`, 'a.yaml', 'definition');
      assert.deepEqual(
        syntaxErrors.map(({ line, column, message }) => ({ line, column, message })),
        [{ line, column, message: 'Expected at most 250 nested lists and maps, found more' }],
      );
      assert.equal(documents.length, 1);
    });
});
