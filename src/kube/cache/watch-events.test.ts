import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LineSplitter } from './watch-events.ts';

describe('kube/cache line splitter', () => {
  for (const [chunks, expected] of [
    [['a\n'], ['a']],
    [['a\nb\n'], ['a', 'b']],
    [['a', 'b', 'c\nd'], ['abc']],
    [
      ['a', '\n', 'b\n'],
      ['a', 'b'],
    ],
    [['a\n\nb\n'], ['a', '', 'b']],
    [['a\u2028b\r\n'], ['a\u2028b\r']],
    [['no end'], []],
  ] as const) {
    test(`${JSON.stringify(chunks)} holds the lines ${JSON.stringify(expected)}`, () => {
      const splitter = new LineSplitter(1_000);
      assert.deepEqual(
        chunks.flatMap((chunk) => splitter.push(chunk)),
        expected,
      );
    });
  }

  test('a line that is too long is an error, also before it ends', () => {
    const splitter = new LineSplitter(10);
    splitter.push('0123456789\n01234');
    splitter.push('56789');
    assert.throws(() => splitter.push('0'), /The watch sent a line of more than 10 characters/);
  });
});
