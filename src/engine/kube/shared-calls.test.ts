import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { settle } from '../../../test/support/fake-clock.ts';
import { SharedCalls } from './shared-calls.ts';

const never = new AbortController().signal;

/** Work that ends when the test says so. */
class Work {
  started = 0;
  readonly signals: AbortSignal[] = [];
  end: (value: number) => void = () => assert.fail('Nothing runs');
  fail: (error: Error) => void = () => assert.fail('Nothing runs');

  readonly run = (signal: AbortSignal): Promise<number> => {
    this.started += 1;
    this.signals.push(signal);
    return new Promise((resolve, reject) => {
      this.end = resolve;
      this.fail = reject;
    });
  };
}

describe('kube/shared-calls', () => {
  test('callers at the same time share one call, later ones start another', async () => {
    const calls = new SharedCalls<number>();
    const work = new Work();
    const both = Promise.all([calls.run('a', work.run, never), calls.run('a', work.run, never)]);
    work.end(1);
    assert.deepEqual(await both, [1, 1]);
    const later = calls.run('a', work.run, never);
    work.end(2);
    assert.equal(await later, 2);
    assert.equal(work.started, 2);
  });

  test('a failure is everybody’s, and forgotten', async () => {
    const calls = new SharedCalls<number>();
    const work = new Work();
    const both = [calls.run('a', work.run, never), calls.run('a', work.run, never)];
    work.fail(new Error('down'));
    for (const one of both) await assert.rejects(one, /down/);
    const later = calls.run('a', work.run, never);
    work.end(2);
    assert.equal(await later, 2);
  });

  test('the work is aborted when the last caller has given up, and the next starts again', async () => {
    const calls = new SharedCalls<number>();
    const work = new Work();
    const [first, second] = [new AbortController(), new AbortController()];
    const waiting = [first, second].map(({ signal }) => calls.run('a', work.run, signal));
    first.abort(new Error('enough'));
    await assert.rejects(waiting[0] ?? assert.fail(), { code: 'aborted' });
    assert.equal(work.signals[0]?.aborted, false);
    second.abort(new Error('enough'));
    await assert.rejects(waiting[1] ?? assert.fail(), { code: 'aborted' });
    assert.equal(work.signals[0]?.aborted, true);
    const next = calls.run('a', work.run, never);
    assert.equal(work.started, 2);
    work.end(3);
    assert.equal(await next, 3);
    assert.equal(getEventListeners(first.signal, 'abort').length, 0);
  });

  test('who comes with an aborted signal starts nothing', async () => {
    const work = new Work();
    const run = new SharedCalls<number>().run('a', work.run, AbortSignal.abort());
    await assert.rejects(run, { code: 'aborted' });
    await settle();
    assert.equal(work.started, 0);
  });
});
