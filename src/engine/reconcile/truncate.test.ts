import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { truncate } from './failure.ts';

describe('reconcile/failure words', () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ['what fits stays', 'one two 10', 'one two 10'],
    ['the last word that fits is the last one', 'one two three', 'one two…'],
    ['a word that fits to the last character stays whole', 'one two10 three', 'one two10…'],
    ['lines end words too', 'one two\nthree', 'one two…'],
    ['a long word is cut itself', 'a bcdefghijklmnop', 'a bcdefgh…'],
    ['text without a space is cut', 'abcdefghijklmnop', 'abcdefghi…'],
    ['half a character is never left', 'abcdefgh😀xyz', 'abcdefgh…'],
  ];
  for (const [name, text, expected] of rows) {
    test(name, () => {
      assert.equal(truncate(text, 10), expected);
    });
  }
});
