import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { findTextLimitViolation } from './text-limits.ts';

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

describe('definition/yaml/text-limits', () => {
  const allowed = [
    ['60000 fields', lines(60_000, (index) => `k${index}: 1`)],
    [
      'a CRD of 20000 lines',
      lines(20_000, (index) => `${' '.repeat(20)}k${index}: { type: string }`),
    ],
    ['a text of 1 MiB', `a: |\n${lines(10_000, () => `  ${'x'.repeat(100)}`)}`],
    ['many brackets beside each other', lines(20_000, () => '- [{ a: [] }]')],
    ['brackets inside of texts', `a: |\n  ${'['.repeat(1000)}\nb: "${'{'.repeat(1000)}"`],
  ] as const;
  for (const [what, text] of allowed) {
    test(`${what} can be read`, () => assert.equal(findTextLimitViolation(text), undefined));
  }

  const rejected = [
    ['a file that is too long', 'x'.repeat(1024 * 1024 + 1), /at most 1048576 characters/],
    ['too many tokens', '- 1\n'.repeat(100_000), /at most 450000 YAML tokens/],
    ['too many open brackets', '['.repeat(251), /at most 250 nested brackets, .* opening/],
    ['too many closed brackets', '}'.repeat(251), /at most 250 nested brackets, .* closing/],
  ] as const;
  for (const [what, text, message] of rejected) {
    test(`${what} is reported with its position`, () => {
      const found = findTextLimitViolation(text);
      assert.match(found?.message ?? '', message);
      assert.ok(found && found.offset <= text.length && found.offset > 0);
    });
  }

  test('the position ignores the marker tokens of the lexer', () => {
    const text = `a: "b"\nc: d\ne: ${'['.repeat(600)}`;
    assert.equal(findTextLimitViolation(text)?.offset, text.indexOf('[') + 250);
  });

  test('a file over a limit gives one diagnostic at its line and no definition', () => {
    const { diagnostics, definitions, isComplete } = definitionParser.parse(
      `a: 1\nb: ${'['.repeat(600)}`,
      'a.yaml',
    );
    assert.deepEqual(
      diagnostics.map(({ code, line, column }) => ({ code, line, column })),
      [{ code: 'yaml-syntax', line: 2, column: 254 }],
    );
    assert.deepEqual(definitions, []);
    assert.equal(isComplete, false);
  });
});
