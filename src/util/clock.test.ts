import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { createSystemClock } from './clock.ts';

describe('util/clock', () => {
  const clock = createSystemClock();

  test('a sleep ends when its time is over, and leaves no listener', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { signal } = new AbortController();
    const sleep = clock.sleep(1_000, signal);
    context.mock.timers.tick(1_000);
    await sleep;
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  test('an aborted sleep fails with the reason, long before its time', async () => {
    const controller = new AbortController();
    const sleep = clock.sleep(2 ** 30, controller.signal);
    const reason = new Error('stop');
    controller.abort(reason);
    await assert.rejects(sleep, reason);
  });

  test('a sleep with a signal that was aborted before fails at once', async () => {
    const reason = new Error('stopped');
    await assert.rejects(clock.sleep(2 ** 30, AbortSignal.abort(reason)), reason);
  });

  test('a callback comes after its time, once', (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const callback = context.mock.fn();
    clock.after(1_000, callback);
    context.mock.timers.tick(999);
    assert.equal(callback.mock.callCount(), 0);
    context.mock.timers.tick(5_000);
    assert.equal(callback.mock.callCount(), 1);
  });

  test('a callback after 30 days comes neither early nor after it is cancelled', (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const longMs = 30 * 86_400_000;
    const longestTimerMs = 2_147_483_647;
    const callback = context.mock.fn();
    const cancelled = context.mock.fn();
    clock.after(longMs, callback);
    const cancel = clock.after(longMs, cancelled);
    context.mock.timers.tick(longestTimerMs);
    context.mock.timers.tick(longMs - longestTimerMs - 1);
    assert.equal(callback.mock.callCount(), 0);
    cancel();
    context.mock.timers.tick(1);
    assert.equal(callback.mock.callCount(), 1);
    assert.equal(cancelled.mock.callCount(), 0);
  });

  test('a cancelled callback does not come', (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const callback = context.mock.fn();
    const cancel = clock.after(1_000, callback);
    cancel();
    context.mock.timers.tick(5_000);
    assert.equal(callback.mock.callCount(), 0);
  });
});
