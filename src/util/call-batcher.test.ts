import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CallBatcher } from './call-batcher.ts';

describe('util/call-batcher', () => {
  test('what is asked for at once is one call, and what is asked for meanwhile the next one', async () => {
    const batches = new CallBatcher<string, string>();
    const calls: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const call = async (items: readonly string[]) => {
      calls.push(items.join(' '));
      await promise;
      return items.join(' ');
    };
    const first = ['a', 'b', 'a'].map((item) => batches.add(item, call));
    await Promise.resolve();
    await Promise.resolve();
    const second = ['c', 'd'].map((item) => batches.add(item, call));
    resolve();
    assert.deepEqual(await Promise.all([...first, ...second]), ['a b', 'a b', 'a b', 'c d', 'c d']);
    assert.deepEqual(calls, ['a b', 'c d']);
  });

  test('a call that fails fails those who asked for it, and no later one', async () => {
    const batches = new CallBatcher<string, string>();
    const failed = batches.add('a', async () => {
      throw new Error('no');
    });
    await assert.rejects(failed, /no/);
    assert.equal(await batches.add('b', async () => 'yes'), 'yes');
  });
});
