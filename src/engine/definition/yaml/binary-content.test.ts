import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findBinaryContent } from './text-limits.ts';

function read(bytes: readonly number[] | Uint8Array): string {
  return new TextDecoder().decode(new Uint8Array(bytes));
}

function utf16(text: string): string {
  return read([...text].flatMap((character) => [character.charCodeAt(0), 0]));
}

const utf8 = 'Save the file as UTF-8';

describe('definition/yaml/binary-content', () => {
  for (const [what, text, offset, message, hint] of [
    ['UTF-16', utf16('a: 1'), 1, /UTF-8, found a zero byte/, utf8],
    [
      'UTF-16 with a byte order mark',
      `\ufffd\ufffd${utf16('a')}`,
      0,
      /UTF-8, found invalid bytes/,
      utf8,
    ],
    ['Latin-1', read([0x61, 0x3a, 0x20, 0xfc]), 3, /UTF-8, found invalid bytes/, utf8],
    [
      'an escape',
      'a: "\u001b[31m"',
      4,
      /^Expected text, found the control character U\+001B$/,
      'Write it as "\\u001b" in a double-quoted string',
    ],
  ] as const) {
    test(`${what} is rejected`, () => {
      const found = findBinaryContent(text);
      assert.deepEqual([found?.offset, found?.hint], [offset, hint]);
      assert.match(found?.message ?? '', message);
    });
  }

  test('tabs, line breaks and characters of all languages are accepted', () => {
    assert.equal(findBinaryContent('\ufeffa:\t"\\u001b ü 漢 🙂"\r\nb: 1\u0085\n'), undefined);
  });
});
