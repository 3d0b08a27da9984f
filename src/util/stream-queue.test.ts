import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StreamQueue } from './stream-queue.ts';

describe('util/stream-queue', () => {
  test('a reader gets the values that were there before it, then each that follows, in order', async () => {
    const queue = new StreamQueue<number>();
    queue.push(1);
    const found: number[] = [];
    const reading = (async () => {
      for await (const value of queue) {
        found.push(value);
        if (value === 1) queue.push(2);
        if (value === 2) setImmediate(() => queue.push(3));
        if (value === 3) queue.end();
      }
    })();
    await reading;
    assert.deepEqual(found, [1, 2, 3]);
  });

  test('an error comes after the values', async () => {
    const queue = new StreamQueue<number>();
    queue.push(1);
    queue.fail(new Error('lost'));
    const reader = queue[Symbol.asyncIterator]();
    assert.deepEqual(await reader.next(), { value: 1, done: false });
    await assert.rejects(reader.next(), /lost/);
  });
});
