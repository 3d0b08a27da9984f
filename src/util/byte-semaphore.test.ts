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

  test('a wait that is aborted acquires nothing, and holds nothing back', async () => {
    const pool = new ByteSemaphore(100);
    pool.acquire(60);
    const stop = new AbortController();
    const aborted = pool.acquire(80, stop.signal);
    const next = pool.acquire(40);
    stop.abort(new Error('too late'));
    await assert.rejects(aborted ?? Promise.resolve(), /too late/);
    await next;
    assert.equal(pool.acquired, 100);
    pool.release(60);
    pool.release(40);
    assert.equal(pool.acquired, 0);
    assert.throws(() => pool.acquire(1, stop.signal), /too late/);
    assert.equal(pool.acquired, 0);
  });

  test('an abort after the grant changes nothing', async () => {
    const pool = new ByteSemaphore(100);
    pool.acquire(60);
    const stop = new AbortController();
    const granted = pool.acquire(80, stop.signal);
    pool.release(60);
    stop.abort(new Error('too late'));
    await granted;
    assert.equal(pool.acquired, 80);
  });
});
