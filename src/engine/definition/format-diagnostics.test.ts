import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dedent } from '../../../test/support/diagnostics.ts';
import type { Diagnostic } from './finding.ts';
import { formatDiagnostics } from './format-diagnostics.ts';

const base = { severity: 'error', file: 'a.yaml', path: '' } as const;
const unknown: Diagnostic = {
  ...base,
  code: 'unknown-field',
  message: 'Unknown field "controler"',
  hint: 'Did you mean "controller"?',
  line: 2,
  column: 3,
};
const warning: Diagnostic = {
  ...base,
  severity: 'warning',
  code: 'ambiguous-yaml',
  message: 'Plain "yes" is a string here',
  file: 'b.yaml',
  line: 12,
  column: 5,
};
const sources = new Map([
  ['a.yaml', 'spec:\n  controler: { concurrency: 2 }\n'],
  ['b.yaml', `${'\n'.repeat(11)}\tx: yes\n`],
]);

describe('definition/format-diagnostics', () => {
  test('each diagnostic has position, code, line, underline and hint, and the summary counts them', () => {
    assert.equal(
      formatDiagnostics([unknown, { ...unknown, line: 1, column: 1 }, warning], sources),
      dedent`
        a.yaml:2:3: error[unknown-field]: Unknown field "controler"
          |
        2 |   controler: { concurrency: 2 }
          |   ^^^^^^^^^
          = hint: Did you mean "controller"?

        a.yaml:1:1: error[unknown-field]: Unknown field "controler"
          |
        1 | spec:
          | ^^^^
          = hint: Did you mean "controller"?

        b.yaml:12:5: warning[ambiguous-yaml]: Plain "yes" is a string here
           |
        12 | ${'\t'}x: yes
           | ${'\t'}   ^^^

        2 errors, 1 warning in 2 files
      `,
    );
  });

  for (const [line, column, message, marks] of [
    ['a: ${ children.deploymnt.status }', 16, 'Unknown child "deploymnt"', 'deploymnt'],
    ['resync: 5 minutes', 9, 'Expected a duration, found "5 minutes"', '5 minutes'],
    ['a: ${ b ? c : d }', 4, 'YAML cuts this expression at ": "', '${ b ? c : d }'],
    ['"a b": 1', 1, 'Unknown field "a b"', '"a b"'],
    ['a.b/c: 1', 1, 'Wrong', 'a.b/c'],
    ['a: [', 4, 'Wrong', '['],
    ['a:', 3, 'Wrong', ' '],
  ] as const) {
    test(`at column ${column} of "${line}" the error is underlined`, () => {
      const diagnostic: Diagnostic = { ...base, code: 'invalid-value', message, line: 1, column };
      const frame = formatDiagnostics([diagnostic], new Map([['a.yaml', line]])).split('\n');
      assert.equal(frame[3], `  | ${' '.repeat(column - 1)}${'^'.repeat(marks.length)}`);
    });
  }

  test('no diagnostics give the empty string', () => {
    assert.equal(formatDiagnostics([], sources), '');
  });

  test('without its source a diagnostic has no code frame', () => {
    assert.equal(
      formatDiagnostics([{ ...warning, file: 'gone.yaml' }], sources),
      'gone.yaml:12:5: warning[ambiguous-yaml]: Plain "yes" is a string here\n\n1 warning in 1 file\n',
    );
  });

  test('a long line is truncated around the error', () => {
    const line = `{ ${'"a": 1, '.repeat(100)}"wrong": 1 }`;
    const column = line.indexOf('"wrong"') + 1;
    const text = formatDiagnostics([{ ...unknown, line: 1, column }], new Map([['a.yaml', line]]));
    const [, , shown = '', marks = ''] = text.split('\n');
    assert.ok(shown.length < 130, shown);
    assert.equal(shown.slice(marks.indexOf('^'), marks.lastIndexOf('^') + 1), '"wrong"');
  });

  test('control characters are replaced by symbols, and the underline keeps its position', () => {
    const line = 'a\u001b[31m\u0007\u007f\u009b\u202e: wrong';
    const diagnostic = { ...unknown, message: 'Unknown "\u001b[2J"', line: 1, column: 13 };
    assert.equal(
      formatDiagnostics([diagnostic], new Map([['a.yaml', line]]))
        .split('\n', 4)
        .join('\n'),
      dedent`
        a.yaml:1:13: error[unknown-field]: Unknown "\u241b[2J"
          |
        1 | a\u241b[31m\u2407\u2421\ufffd\ufffd: wrong
          |             ^^^^^
      `.trimEnd(),
    );
  });

  test('severity, message, frame and hint are coloured', () => {
    const text = formatDiagnostics([unknown], sources, { color: true });
    assert.ok(text.includes('\u001b[31merror[unknown-field]\u001b[0m'));
    assert.ok(text.includes('\u001b[31m^^^^^^^^^\u001b[0m'));
    assert.ok(text.includes('\u001b[36mhint: Did you mean "controller"?\u001b[0m'));
    assert.ok(!formatDiagnostics([unknown], sources).includes('\u001b'));
  });
});
