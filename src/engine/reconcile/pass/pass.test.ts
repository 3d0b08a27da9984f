import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allSettledOrThrow } from './pass.ts';

describe('reconcile/pass all ended', () => {
  test('gives all results in order', async () => {
    assert.deepEqual(await allSettledOrThrow([Promise.resolve(1), Promise.resolve(2)]), [1, 2]);
  });

  test('throws the first failure, but not before the last has ended', async () => {
    const slow = Promise.withResolvers<number>();
    let isOver = false;
    const all = allSettledOrThrow([Promise.reject(new Error('first')), slow.promise]).finally(
      () => {
        isOver = true;
      },
    );
    await Promise.resolve();
    await Promise.resolve();
    assert.equal(isOver, false);
    slow.resolve(1);
    await assert.rejects(all, /first/);
  });
});
