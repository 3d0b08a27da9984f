import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ByteSemaphore } from './byte-semaphore.ts';

describe('util/byte-semaphore', () => {
  function takeAll(pool: ByteSemaphore, sizes: readonly number[]): number[] {
    const begun: number[] = [];
    for (const bytes of sizes) {
      const waits = pool.acquire(bytes);
      if (waits === undefined) begun.push(bytes);
      else void waits.then(() => begun.push(bytes));
    }
    return begun;
  }

  test('as many hold some as fit, the others wait in order', async () => {
    const pool = new ByteSemaphore(100);
    const begun = takeAll(pool, [60, 40, 30, 20]);
    assert.deepEqual(begun, [60, 40]);
    pool.release(40);
    await Promise.resolve();
    assert.deepEqual(begun, [60, 40, 30]);
    pool.release(60);
    await Promise.resolve();
    assert.deepEqual([begun, pool.acquired], [[60, 40, 30, 20], 50]);
  });

  test('a small one does not go ahead of a large one that waits', () => {
    assert.deepEqual(takeAll(new ByteSemaphore(100), [60, 50, 10]), [60]);
  });

  test('what is more than there will ever be is had by one alone', async () => {
    const pool = new ByteSemaphore(10);
    const begun = takeAll(pool, [64, 65]);
    assert.deepEqual(begun, [64]);
    pool.release(64);
    await Promise.resolve();
    assert.deepEqual(begun, [64, 65]);
  });
});
