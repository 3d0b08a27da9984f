import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readDocuments } from './read-documents.ts';

/** Each text is one field `x`; every character of its value that is not white space is looked up. */
const texts = [
  ['plain', 'x: some text ${ a.b }'],
  ['plain over lines', 'x: some text\n  ${ a\n\n    .b }  # comment\ny: 1'],
  ['single-quoted', "x: 'it''s ${ a = ''b'' } '"],
  ['single-quoted over lines', "x: 'it''s\n  ${ a }\n\n\n  here'"],
  ['double-quoted', 'x: "say \\"hi\\"\\t${ a = \\"b\\" }\\n${ c }"'],
  ['double-quoted with code points', 'x: "\\x41\\u00e9\\U0001F600 ${ a }\\x20\\_."'],
  ['double-quoted over lines', 'x: "a  \\\n   b\n   c\n\n   ${ d }"'],
  ['literal', 'x: |\n    first ${ a }\n      second\n\n    third ${ b }\n'],
  ['literal with header', 'x: |2- # comment\n    ${ a }\n   b'],
  ['literal with other line ends', 'x: |\r\n  ${ a }\r\n  b\r\n'],
  ['folded', 'x: >-\n  ${ a ? "b"\n\n  : c }\n    more ${ d }\n  e'],
  ['in a flow map', '{ y: "1", x: "${ a }" }'],
  ['in JSON', '{ "y": 1,\n\t"x": "a\\/b \\u0024{ c }" }'],
] as const;

/** What one character of a value may be written as. */
const escapes: Readonly<Record<string, readonly string[]>> = {
  A: ['\\x41'],
  é: ['\\u00e9'],
  $: ['\\u0024'],
  '/': ['\\/'],
  '"': ['\\"'],
  '\u00a0': ['\\_'],
  '\ud83d': ['\\U0001F600'],
  '\ude00': ['\\U0001F600'],
};

describe('definition/yaml/inside-scalar', () => {
  for (const [name, text] of texts) {
    test(`every character of a ${name} scalar has the right position`, () => {
      const [document] = readDocuments(text, 'a.yaml', 'definition').documents;
      assert.ok(document);
      const { x } = document.value as { x: string };
      const lines = text.split('\n');
      let looked = 0;
      for (let offset = 0; offset < x.length; offset++) {
        const char = x.charAt(offset);
        if (/[ \t\r\n]/.test(char)) continue;
        const { line, column } = document.source.insideAt('/x', offset);
        const rest = lines[line - 1]?.slice(column - 1) ?? '';
        const spellings = [char, ...(escapes[char] ?? [])];
        assert.ok(
          spellings.some((spelling) => rest.startsWith(spelling)),
          `character ${offset} "${char}" is said to stand at "${rest}"`,
        );
        looked++;
      }
      assert.ok(looked > 0);
    });
  }

  test('white space is located after the preceding character, also at the end and at the start', () => {
    const [document] = readDocuments('x: " a  b "', 'a.yaml', 'definition').documents;
    assert.ok(document);
    const columns = [0, 1, 2, 3, 4, 5, 6].map(
      (offset) => document.source.insideAt('/x', offset).column,
    );
    assert.deepEqual(columns, [5, 6, 7, 8, 9, 10, 11]);
  });

  test('a value that is not a string has its start position', () => {
    const [document] = readDocuments('x: 12345', 'a.yaml', 'definition').documents;
    assert.deepEqual(document?.source.insideAt('/x', 3), { line: 1, column: 4 });
  });
});
