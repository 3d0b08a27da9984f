import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { ReadThrottle } from './read-throttle.ts';

const { signal } = new AbortController();

/** 100 bytes at once, then 10 per second. */
function throttled() {
  const clock = new FakeClock();
  const reports: boolean[] = [];
  const waited: number[] = [];
  const throttle = new ReadThrottle(
    {
      burst: 100,
      perSecond: 10,
      onThrottled: (isThrottled) => reports.push(isThrottled),
      onWaited: (seconds) => waited.push(seconds),
    },
    clock,
  );
  /** Reads so many bytes per second for some seconds. */
  const read = async (perSecond: number, seconds: number) => {
    const endMs = clock.monotonicMs() + seconds * 1_000;
    while (clock.monotonicMs() < endMs) {
      throttle.take(perSecond);
      let isReadable = false;
      const readable = throttle.untilReadable(signal).then(() => {
        isReadable = true;
      });
      do await clock.advance(1_000);
      while (!isReadable);
      await readable;
    }
  };
  return { clock, reports, waited, throttle, read };
}

describe('kube/client/read-throttle', () => {
  test('reports a server that sends too much for a minute, and again when it has not for five', async () => {
    const { clock, reports, throttle, read } = throttled();
    // The first seconds are read at once.
    await read(11, 60);
    assert.deepEqual(reports, []);
    await read(11, 200);
    assert.deepEqual(reports, [true]);
    await read(5, 290);
    assert.deepEqual(reports, [true]);
    await clock.advance(300_000);
    assert.deepEqual(reports, [true, false]);
    assert.equal(clock.pending, 0);
    throttle.stop();
  });

  test('does not report one that waits for a moment again and again', async () => {
    const { clock, reports, throttle } = throttled();
    for (let count = 0; count < 100; count++) {
      throttle.take(110);
      const readable = throttle.untilReadable(signal);
      await clock.advance(12_000);
      await readable;
    }
    assert.deepEqual(reports, []);
  });

  test('a load that changes each minute is one report', async () => {
    const { reports, read } = throttled();
    await read(20, 200);
    for (let count = 0; count < 5; count++) {
      await read(0, 60);
      await read(20, 60);
    }
    assert.deepEqual(reports, [true]);
  });

  test('counts the time in which reading waits once for all that wait', async () => {
    const { clock, waited, throttle } = throttled();
    throttle.take(120);
    const readable = [throttle.untilReadable(signal), throttle.untilReadable(signal)];
    await clock.advance(2_100);
    await Promise.all(readable);
    assert.deepEqual(waited, [2.1]);
    await throttle.untilReadable(signal);
    assert.deepEqual(waited, [2.1]);
  });

  test('stopped, it leaves no timer', async () => {
    const { clock, reports, throttle, read } = throttled();
    await read(20, 200);
    assert.deepEqual(reports, [true]);
    throttle.stop();
    assert.equal(clock.pending, 0);
  });
});
