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
      const splitter = new LineSplitter();
      assert.deepEqual(
        chunks.flatMap((chunk) => splitter.push(chunk)),
        expected,
      );
    });
  }
});
