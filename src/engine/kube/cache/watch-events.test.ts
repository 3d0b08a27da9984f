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
    let held = 0;
    const splitter = new LineSplitter(74, (length) => {
      held += length;
    });
    // Each piece counts 32 more.
    splitter.push('0123456789\n01234');
    splitter.push('56789');
    assert.equal(held, 74);
    assert.throws(() => splitter.push('0'), /The watch sent a line of more than 74 characters/);
    splitter.drop();
    assert.equal(held, 0);
  });
});
