import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FairTimeSlicer } from './time-slicer.ts';

/** An event loop and a clock that the test moves. */
function createLoop() {
  const deferred: (() => void)[] = [];
  const loop = { nowMs: 0, workedMs: 0 };
  const turns = new FairTimeSlicer({
    defer: (callback) => void deferred.push(callback),
    nowMs: () => loop.nowMs,
    workedMs: () => loop.workedMs,
  });
  return {
    turns,
    work(ms: number): void {
      loop.nowMs += ms;
      loop.workedMs += ms;
    },
    /** Other processes have the processor. */
    stand(ms: number): void {
      loop.nowMs += ms;
    },
    /** The event loop has its turn. */
    async turn(): Promise<void> {
      for (const callback of deferred.splice(0)) callback();
      await Promise.resolve();
    },
  };
}

describe('util/time-slicer', () => {
  test('work begins at once, and is over after 20 ms', () => {
    const { turns, work } = createLoop();
    assert.equal(turns.acquire('a'), undefined);
    work(20);
    assert.equal(turns.isExpired(), false);
    work(1);
    assert.equal(turns.isExpired(), true);
  });

  test('the 20 ms are those of all owners together, until the event loop has had its turn', async () => {
    const { turns, work, turn } = createLoop();
    assert.equal(turns.acquire('a'), undefined);
    work(15);
    turns.release();
    assert.equal(turns.acquire('b'), undefined);
    work(6);
    assert.equal(turns.isExpired(), true);
    turns.release();
    await turn();
    assert.equal(turns.isExpired(), false);
  });

  test('one at a time works; who comes meanwhile begins when it leaves', async () => {
    const { turns } = createLoop();
    const begun: string[] = [];
    turns.acquire('a');
    void turns.acquire('b')?.then(() => begun.push('b'));
    await Promise.resolve();
    assert.deepEqual(begun, []);
    turns.release();
    await Promise.resolve();
    assert.deepEqual(begun, ['b']);
  });

  test('after 20 ms the next one begins only when the event loop has had its turn', async () => {
    const { turns, work, turn } = createLoop();
    const begun: string[] = [];
    turns.acquire('a');
    void turns.acquire('b')?.then(() => begun.push('b'));
    work(25);
    turns.release();
    await Promise.resolve();
    assert.deepEqual(begun, []);
    await turn();
    assert.deepEqual(begun, ['b']);
  });

  test('owners take turns, however much each of them has to do', async () => {
    const { turns, work, turn } = createLoop();
    const begun: string[] = [];
    const add = (owner: string) => void turns.acquire(owner)?.then(() => begun.push(owner));
    turns.acquire('a');
    for (const owner of ['a', 'a', 'a', 'b', 'c']) add(owner);
    for (let round = 0; round < 5; round++) {
      work(25);
      turns.release();
      await turn();
    }
    assert.deepEqual(begun, ['a', 'b', 'c', 'a', 'a']);
  });

  test('who pauses continues one after the other, a turn of the event loop each', async () => {
    const { turns, turn } = createLoop();
    const begun: string[] = [];
    for (const owner of ['a', 'b']) void turns.yield(owner).then(() => begun.push(owner));
    await turn();
    assert.deepEqual(begun, ['a']);
    await turn();
    assert.deepEqual(begun, ['a', 'b']);
  });

  test('what was worked is CPU time: a busy machine makes no one slower than he is', () => {
    const { turns, work, stand } = createLoop();
    turns.acquire('a');
    work(10);
    stand(90);
    assert.equal(Math.round(turns.release()), 10);
  });
});
