import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { printable, printableLine, printableWithColors } from './printable-text.ts';

describe('util/printable-text', () => {
  test('control characters and those that change the direction are escaped, line breaks and tabs stay', () => {
    for (const [text, expected] of [
      ['plain \u00e9 \u{1f600}\n\tline', 'plain \u00e9 \u{1f600}\n\tline'],
      ['\u001b[31m\u0007\r\u0000', '\\u001b[31m\\u0007\\u000d\\u0000'],
      ['\u007f\u0085\u009b', '\\u007f\\u0085\\u009b'],
      ['\u202a\u202e\u2066\u2069', '\\u202a\\u202e\\u2066\\u2069'],
      ['\u200e\u200f\u061c\u2028', '\\u200e\\u200f\\u061c\\u2028'],
    ] as const) {
      assert.equal(printable(text), expected);
      assert.equal(printable(printable(text)), expected);
    }
  });

  test('a line has no line break', () => {
    assert.equal(printableLine(' a \n b\tc\u2028d\u001b\n'), 'a b c d\\u001b');
  });

  test('codes of colors stay, others do not', () => {
    assert.equal(
      printableWithColors('\u001b[31mred\u001b[39m \u001b[8mhidden \u001b[2J'),
      '\u001b[31mred\u001b[39m \\u001b[8mhidden \\u001b[2J',
    );
  });

  test('JSON means the same', () => {
    const value = { text: '\u009b\u202e\u2028', '\u200e': 1 };
    assert.deepEqual(JSON.parse(printable(JSON.stringify(value))), value);
  });
});
