import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { jsonLines } from './json-lines.ts';

async function* chunksOf(...chunks: readonly string[]) {
  yield* chunks;
}

async function valuesOf(lines: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  for await (const value of lines) values.push(value);
  return values;
}

const limits = { maxLength: 20, fromLength: 0, maxCost: 1_000, maxDepth: 3 };

describe('util/json-lines', () => {
  test('values are split at line ends, in chunks of any size', async () => {
    for (const chunks of [
      ['1\n[2]\n\n{"a":3}\n'],
      [...'1\n[2]\n\n{"a":3}'],
      ['1\n[', '2]\n{"a":3}'],
    ])
      assert.deepEqual(await valuesOf(jsonLines(chunksOf(...chunks))), [1, [2], { a: 3 }]);
  });

  test('a last line that was cut off is dropped', async () => {
    for (const rest of ['', ' ', '{', '{"a":"b', '{"a":1', '[1,', '"\\u00'])
      assert.deepEqual(await valuesOf(jsonLines(chunksOf('1\n', rest))), [1], rest);
  });

  for (const [what, chunks, expected] of [
    ['too long, without an end', ['"', ...'x'.repeat(40)], /a line of more than 20 characters/],
    ['too long, in one piece', [`"${'x'.repeat(40)}"\n`], /a line of more than 20 characters/],
    ['nested too deep', ['[[[[]]]]\n'], /nested deeper than 3 levels and was not parsed/],
    ['nested too deep, without an end', ['[[[[]]]]'], /nested deeper than 3 levels/],
    ['no JSON', ['{\n'], SyntaxError],
  ] as const)
    test(`a line that is ${what} is an error`, async () => {
      const values = valuesOf(jsonLines(chunksOf('1\n', ...chunks), limits));
      await assert.rejects(values, expected);
    });

  test('a stream of a trusted server has limits, too', async () => {
    const maps = `[${'{},'.repeat(2_000_000)}{}]\n`;
    await assert.rejects(valuesOf(jsonLines(chunksOf(maps))), /too large and was not parsed/);
  });
});
