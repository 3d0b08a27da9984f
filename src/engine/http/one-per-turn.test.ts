import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { OnePerTurn } from './request-limits.ts';

describe('http/one-per-turn', () => {
  test('those who ask at once continue one in each turn of the event loop, in order', async () => {
    const turns = new OnePerTurn();
    const gone: number[] = [];
    const all = Array.from({ length: 5 }, (_, index) => turns.next().then(() => gone.push(index)));
    const seen: number[] = [];
    while (gone.length < all.length) {
      await nextTurn();
      seen.push(gone.length);
    }
    assert.deepEqual(gone, [0, 1, 2, 3, 4]);
    assert.ok(
      seen.every((count, turn) => count - (seen[turn - 1] ?? 0) <= 1),
      seen.join(),
    );
    await turns.next();
  });
});
