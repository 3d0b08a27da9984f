import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSystemRandom } from './random.ts';

describe('util/random', () => {
  const random = createSystemRandom();

  for (const length of [0, 1, 7, 256, 100_000]) {
    test(`a text of length ${length} has that length`, () => {
      assert.equal(random.text(length, 'abc').length, length);
    });
  }

  test('an alphabet of one letter gives that letter', () => {
    assert.equal(random.text(3, 'x'), 'xxx');
  });

  for (const size of [2, 36, 62, 200]) {
    test(`each of ${size} characters comes about equally often, and no other one`, () => {
      const alphabet = String.fromCharCode(...Array.from({ length: size }, (_, i) => 0x100 + i));
      const expected = 400;
      const counts = new Map([...alphabet].map((character) => [character, 0]));
      for (const character of random.text(size * expected, alphabet)) {
        counts.set(character, (counts.get(character) ?? Number.NaN) + 1);
      }
      // Ten standard deviations: chance alone does not get there, a bias of modulo would with 200 characters.
      for (const [character, count] of counts) {
        assert.ok(Math.abs(count - expected) < 200, `"${character}" came ${count} times`);
      }
    });
  }

  test('fractions lie in [0, 1)', () => {
    for (let round = 0; round < 1000; round++) {
      const fraction = random.fraction();
      assert.ok(fraction >= 0 && fraction < 1);
    }
  });
});
