import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { formatSource } from './quote-expressions.ts';
import { parseYamlDocuments } from './yaml-text.ts';

const root = new URL('../../../../', import.meta.url).pathname;
/** Without a line of its own: the tests write the rest. */
const header = 'apiVersion: homeostat.dev/v1alpha1\n';

/** What `homeostat fmt` makes of a text below the header. */
function formatted(text: string): string {
  const { text: all, syntaxErrors } = formatSource(header + text, 'a.yaml');
  assert.deepEqual(syntaxErrors, []);
  assert.equal(formatSource(all, 'a.yaml').text, all);
  return all.slice(header.length);
}

describe('definition/yaml/quote-expressions', () => {
  for (const [what, text, expected] of [
    ['a condition', 'a: ${ b ? 1 : 2 }', 'a: "${ b ? 1 : 2 }"'],
    ['strings', 'a: ${ b ? "x: y" : 2 } # c', `a: '\${ b ? "x: y" : 2 }' # c`],
    ['both quotes', `a: \${ b ? "x" : 'y' }`, `a: '\${ b ? "x" : ''y'' }'`],
    ['text around it', 'a: b-${ c ? 1 : 2 }-d  ', 'a: "b-${ c ? 1 : 2 }-d"  '],
    ['two expressions', 'a: ${ b ? 1 : 2 }${ c ? 3 : 4 }', 'a: "${ b ? 1 : 2 }${ c ? 3 : 4 }"'],
    ['a map', 'a: ${ { "b": 1 } }', `a: '\${ { "b": 1 } }'`],
    [
      'items of a list',
      '- - a: ${ b ? 1 : 2 }\n  - ${ c ? 3 : 4 }',
      '- - a: "${ b ? 1 : 2 }"\n  - "${ c ? 3 : 4 }"',
    ],
    ['a quoted key', '"a: b": ${ b ? 1 : 2 }', '"a: b": "${ b ? 1 : 2 }"'],
    ['a key with blanks', 'a b: ${ b ? 1 : 2 }', 'a b: "${ b ? 1 : 2 }"'],
    ['an anchor and a tag', 'a: &x !!str ${ b ? 1 : 2 }', 'a: &x !!str "${ b ? 1 : 2 }"'],
    ['the next line', 'a: # why\n  ${ b ? 1 : 2 }\nc: d', 'a: # why\n  "${ b ? 1 : 2 }"\nc: d'],
    ['several lines', 'a: ${ b\n  ? 1 : 2 }\nc: d', 'a: "${ b\n  ? 1 : 2 }"\nc: d'],
    ['a tab', 'a:\t${ b ? 1 : 2 }', 'a:\t"${ b ? 1 : 2 }"'],
    [
      'ends of lines of Windows',
      'a: ${ b ? 1 : 2 }\r\nc: d\r\n',
      'a: "${ b ? 1 : 2 }"\r\nc: d\r\n',
    ],
    ['a flow map', 'a: { b: ${ c }, d: [${ e }, f ] }', 'a: { b: "${ c }", d: ["${ e }", f ] }'],
    ['a comma in a flow map', 'a: { b: ${ c(d, e) }, f: g }', 'a: { b: "${ c(d, e) }", f: g }'],
    ['text in a flow map', 'a: { b: c-${ d }-e, f: g }', 'a: { b: "c-${ d }-e", f: g }'],
    ['the same quotes', 'a: "${ b = "c" }"', `a: '\${ b = "c" }'`],
    ['the same quotes in a flow map', 'a: { b: "${ c = "d" }" }', `a: { b: '\${ c = "d" }' }`],
    ['a comment', 'a: ${ b #$i.c }', 'a: "${ b #$i.c }"'],
    ['a key in a flow map', 'a: { ${ b }: ${ c }, d: e }', 'a: { "${ b }": "${ c }", d: e }'],
    ['text in a key of a flow map', 'a: { b-${ c }: ${ d } }', 'a: { "b-${ c }": "${ d }" }'],
    ['only a key in a flow map', 'a: { ${ b }: 1 }', 'a: { "${ b }": 1 }'],
    ['a key that YAML cuts', 'a: { ${ b ? c : d }: 1 }', 'a: { "${ b ? c : d }": 1 }'],
    ['a key in a flow list', 'a: [ ${ b }: c ]', 'a: [ "${ b }": c ]'],
    ['an explicit key', 'a: { ? ${ b } : c }', 'a: { ? "${ b }" : c }'],
    ['a key before a bracket', 'a: { ${ b }:[ ${ c } ] }', 'a: { "${ b }":[ "${ c }" ] }'],
    ['a colon in a flow map', 'a: { b: ${ c }:${ d }, e: f }', 'a: { b: "${ c }:${ d }", e: f }'],
    ['compact JSON', 'a: {"b":${ c },"d":[${ e }]}', 'a: {"b":"${ c }","d":["${ e }"]}'],
    ['a quoted comma before it', 'a: {"b, c":x${ d }}', 'a: {"b, c":"x${ d }"}'],
    ['a key of a block map', 'a:\n  ${ b ? c : d }: 1', 'a:\n  "${ b ? c : d }": 1'],
    [
      'a key and a value of a block map',
      'a:\n  b: 1\n  c-${ d ? e : f }: ${ g ? h : i } # j',
      'a:\n  b: 1\n  "c-${ d ? e : f }": "${ g ? h : i }" # j',
    ],
    [
      'an explicit key of a block map',
      'a:\n  ? ${ b ? c : d }\n  : e',
      'a:\n  ? "${ b ? c : d }"\n  : e',
    ],
    ['a string with " #"', `a: \${ b & " #x" } # c`, `a: '\${ b & " #x" }' # c`],
    ['Handlebars', 'a: {{ b }} # c\nd: [ {{ e }} ]', 'a: "{{ b }}" # c\nd: [ "{{ e }}" ]'],
    [
      'several documents',
      'a: ${ b ? 1 : 2 }\n---\nc: ${ d ? 1 : 2 }\n...\n',
      'a: "${ b ? 1 : 2 }"\n---\nc: "${ d ? 1 : 2 }"\n...\n',
    ],
  ] as const) {
    test(`quotes an expression with ${what}`, () => {
      const body =
        what.startsWith('items') || what.startsWith('several documents')
          ? `x: y\n---\n${text}`
          : text;
      const wanted = body === text ? expected : `x: y\n---\n${expected}`;
      assert.equal(formatted(body), wanted);
    });
  }

  for (const [what, text] of [
    ['a literal block', 'a: |\n  b: ${ c ? 1 : 2 }\n'],
    ['a folded block', 'a: >-\n  ${ c ? "x: y" : 2 }\n'],
    ['a comment', '# a: ${ b ? 1 : 2 }\nc: d # ${ e ? 1 : 2 }\n'],
    ['what is valid', 'a: ${ b }\nc: "${ d ? 1 : 2 }"\ne: 1.10\nz: 1\ny: 2\n\n\n'],
    ['a text without an end of line', 'a: b'],
  ] as const) {
    test(`keeps ${what}`, () => assert.equal(formatted(text), text));
  }

  for (const [what, text] of [
    ['another error', 'a: ${ b ? 1 : 2 }\nc: [d\n'],
    ['an expression that is not closed', 'a: ${ b ? 1 : 2\nc: d\n'],
    ['a value that may continue', 'a: ${ b ? 1 : 2 }\n  c: d\n'],
    ['a key without a value', 'a: {${ b }:${ c }}\n'],
    ['an item of a flow map', 'a: { ${ b } }\n'],
    ['two values on a line', 'a: ${ b ? 1 : 2 } c: ${ d }\n'],
    ['escapes in the quotes', 'a: "\\n${ b = "c" }"\n'],
  ] as const) {
    test(`keeps a text with ${what}, and reports its errors`, () => {
      const { text: all, syntaxErrors } = formatSource(header + text, 'a.yaml');
      assert.equal(all, header + text);
      assert.notEqual(syntaxErrors.length, 0);
    });
  }

  for (const [what, text, expected] of [
    ['a key', '${ a ? b : c }: 1', '"${ a ? b : c }": 1'],
    ['a value', 'x: ${ a ? b : c }', 'x: "${ a ? b : c }"'],
    ['an item', '- ${ a ? b : c }', '- "${ a ? b : c }"'],
    ['Handlebars', 'x: {{ b }}', 'x: "{{ b }}"'],
    ['a string with " #"', `x: \${ a & " #x" }`, `x: '\${ a & " #x" }'`],
    [
      'the version of the file',
      'apiVersion: homeostat.dev/v1alpha1\nx: ${ a #b }',
      'apiVersion: homeostat.dev/v1alpha1\nx: "${ a #b }"',
    ],
  ] as const) {
    test(`quotes ${what} in the first line, also after a byte order mark`, () => {
      // The parser takes no list after a mark.
      for (const mark of text.startsWith('-') ? [''] : ['', '\ufeff']) {
        const { text: found, syntaxErrors } = formatSource(mark + text, 'a.yaml');
        assert.deepEqual([found, syntaxErrors], [mark + expected, []]);
      }
    });
  }

  test('reports a cut of a file without a version that it does not quote', () => {
    const text = 'x: ${ a #b }\n  c: d\n';
    const { text: found, syntaxErrors } = formatSource(text, 'a.yaml');
    assert.equal(found, text);
    assert.notEqual(syntaxErrors.length, 0);
  });

  test('keeps JSON, and texts of shells in other objects', () => {
    const shell = 'apiVersion: v1\ndata: { }\ncommand: echo ${HOME #x}\n';
    assert.equal(formatSource(shell, 'a.yaml').text, shell);
    const json = '{"a": ${ b }}';
    const { text, syntaxErrors } = formatSource(json, 'a.json');
    assert.equal(text, json);
    assert.equal(syntaxErrors.length, 1);
  });

  test('keeps all valid files of this repository', () => {
    const files = globSync(
      ['operators/**/*.yaml', 'examples/**/*.yaml', 'test/fixtures/valid/*.yaml'],
      { cwd: root },
    );
    assert.ok(files.length > 20);
    for (const file of files) {
      const text = readFileSync(root + file, 'utf8');
      assert.equal(formatSource(text, file).text, text, file);
    }
  });

  const contents = [
    '${ a ? 1 : 2 }',
    '${ a ? "x: y" : "z" }',
    "${ a ? 'x' : 'y, z' }",
    'b-${ c }',
    '${ { "k": [1, 2] } }.d',
    '${ a #$i }',
    'plain',
    '${ `a-b` ?? "it\'s" }',
  ];

  test('gives the values that are written, and changes only them', () => {
    const value = fc.constantFrom(...contents);
    const entry = fc.record({
      value,
      form: fc.constantFrom(
        ...['block', 'list', 'flow', 'flow list', 'nested', 'own line'],
        ...['key', 'flow key', 'key and value', 'flow key and value', 'compact'],
      ),
      comment: fc.constantFrom('', ' # note', '   # a: ${ b ? 1 : 2 }'),
    });
    const file = fc.record({
      entries: fc.array(entry, { minLength: 1, maxLength: 8 }),
      newline: fc.constantFrom('\n', '\r\n'),
      mark: fc.constantFrom('', '\ufeff'),
    });
    fc.assert(
      fc.property(file, ({ entries, newline, mark }) => {
        const expected: Record<string, unknown> = {};
        const lines = entries.flatMap(({ value: text, form, comment }, index) => {
          const key = `k${index}`;
          switch (form) {
            case 'list':
              expected[key] = [text, 'x'];
              return [`${key}:`, `  - ${text}${comment}`, '  - x'];
            case 'flow':
              expected[key] = { a: text, b: 'x' };
              return [`${key}: { a: ${text}, b: x }${comment}`];
            case 'flow list':
              expected[key] = ['x', text];
              return [`${key}: [x, ${text}]${comment}`];
            case 'nested':
              expected[key] = { a: text };
              return [`${key}:`, `  a: ${text}${comment}`];
            case 'key':
              expected[key] = { x: 'y', [text]: 'z' };
              return [`${key}:`, '  x: y', `  ${text}: z${comment}`];
            case 'flow key':
              expected[key] = { [text]: 'z', x: 'y' };
              return [`${key}: { ${text}: z, x: y }${comment}`];
            case 'key and value':
              expected[key] = { [text]: text };
              return [`${key}:`, `  ${text}: ${text}${comment}`];
            case 'flow key and value':
              expected[key] = [{ x: 'y', [text]: text }];
              return [`${key}: [{ x: y, ${text}: ${text} }]${comment}`];
            case 'compact':
              expected[key] = { a: text, b: [text, 'x'] };
              return [`${key}: {"a":${text},"b":[${text},"x"]}${comment}`];
            case 'own line':
              expected[key] = text;
              return [`${key}:${comment}`, `  ${text}`];
            default:
              expected[key] = text;
              return [`${key}: ${text}${comment}`];
          }
        });
        const source = mark + [header.trimEnd(), ...lines, ''].join(newline);
        const { text, syntaxErrors } = formatSource(source, 'a.yaml');
        assert.deepEqual(syntaxErrors, []);
        const [found] = parseYamlDocuments(text);
        assert.deepEqual(found, { apiVersion: 'homeostat.dev/v1alpha1', ...expected });
        assert.equal(text.replaceAll(/["']/g, ''), source.replaceAll(/["']/g, ''));
        assert.equal(formatSource(text, 'a.yaml').text, text);
      }),
      { numRuns: 250 },
    );
  });
});
