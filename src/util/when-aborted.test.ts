import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { orAborted } from './when-aborted.ts';

const reason = new Error('stopped');

describe('util/or-aborted', () => {
  test('is what the promise is, and listens no more', async () => {
    const { signal } = new AbortController();
    assert.equal(await orAborted(Promise.resolve('a'), signal), 'a');
    await assert.rejects(orAborted(Promise.reject(new Error('no')), signal), /no/);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  test('rejects when the signal aborts, however long the promise takes', async () => {
    const stopper = new AbortController();
    const waiting = orAborted(new Promise(() => {}), stopper.signal);
    stopper.abort(reason);
    await assert.rejects(waiting, reason);
  });

  test('rejects at once where it has aborted, also when the promise is there', async () => {
    await assert.rejects(orAborted(Promise.resolve(), AbortSignal.abort(reason)), reason);
  });
});
