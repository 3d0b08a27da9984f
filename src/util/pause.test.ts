import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { pause, Waker } from './pause.ts';

describe('util/pause', () => {
  const { signal } = new AbortController();

  test('a pause ends when the signal aborts, and does not reject', async () => {
    const stopper = new AbortController();
    const waiting = pause(new FakeClock(), 1_000, stopper.signal);
    stopper.abort(new Error('stopped'));
    await waiting;
  });

  test('a pause that nothing ends takes its time', async () => {
    const clock = new FakeClock();
    const waiting = new Waker(clock).pause(1_000, signal);
    await clock.advance(1_000);
    assert.equal(await waiting, false);
  });

  test('wake ends a pause', async () => {
    const waker = new Waker(new FakeClock());
    const waiting = waker.pause(1_000, signal);
    waker.wake();
    assert.equal(await waiting, true);
  });

  test('wake between two pauses ends the next one at once, and only that', async () => {
    const clock = new FakeClock();
    const waker = new Waker(clock);
    waker.wake();
    assert.equal(await waker.pause(1_000, signal), true);
    const waiting = waker.pause(1_000, signal);
    await clock.advance(1_000);
    assert.equal(await waiting, false);
  });

  test('a pause after the signal has aborted does not wait', async () => {
    assert.equal(await new Waker(new FakeClock()).pause(1_000, AbortSignal.abort()), false);
  });
});
