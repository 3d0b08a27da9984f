import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { BackendError } from '#web';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { MessageEnd } from './messages.ts';
import { type PageAnswers, servePage } from './serve-page.ts';
import { type EndableWorker, WorkerBackend } from './worker-backend.ts';

const { signal } = new AbortController();

describe('playground/worker-backend', () => {
  const ports: MessagePort[] = [];
  afterEach(() => {
    for (const port of ports.splice(0)) port.close();
  });

  /** A backend whose workers are ports of this process. */
  function backendOn(answers: PageAnswers) {
    const clock = new FakeClock();
    let busy = 0;
    const backend = new WorkerBackend({
      clock,
      startWorker: () => {
        const { port1, port2 } = new MessageChannel();
        ports.push(port1, port2);
        servePage(port2 as unknown as MessageEnd, answers);
        for (const port of [port1, port2]) port.start();
        return Object.assign(port1, { terminate: () => port1.close() }) as unknown as EndableWorker;
      },
      onBusyChange: () => {
        busy += 1;
      },
      onFailure: assert.fail,
    });
    return { backend, clock, busyChanges: () => busy };
  }

  const never = new Promise<never>(() => undefined);
  const noStreams: PageAnswers['open'] = () => assert.fail('no stream is opened');

  test('a question is answered, and an error keeps its code', async () => {
    const { backend } = backendOn({
      answer: async (question, body) => {
        if (question === 'info') return { home: 'playground' };
        throw new BackendError('forbidden', `not ${JSON.stringify(body)}`);
      },
      open: noStreams,
    });
    assert.deepEqual(await backend.info(signal), { home: 'playground' });
    await assert.rejects(
      backend.parse('a: 1', signal),
      (error: unknown) =>
        error instanceof BackendError &&
        error.code === 'forbidden' &&
        error.message === 'not {"text":"a: 1"}',
    );
  });

  test('an aborted question stops the work, and rejects', async () => {
    const stopped = Promise.withResolvers<void>();
    const { backend } = backendOn({
      answer: (_question, _body, abort) => {
        abort.addEventListener('abort', () => stopped.resolve());
        return never;
      },
      open: noStreams,
    });
    const stopper = new AbortController();
    const asked = backend.info(stopper.signal);
    stopper.abort(new Error('not needed'));
    await assert.rejects(asked, /not needed/);
    await stopped.promise;
  });

  test('a stream has its values in order, and its end', async () => {
    const { backend } = backendOn({
      answer: () => never,
      async *open(body) {
        yield { type: 'ADDED', object: body };
        yield { type: 'DELETED', object: body };
      },
    });
    const types: string[] = [];
    for await (const { type } of backend.watch({ path: '/api/v1/pods' }, signal)) types.push(type);
    assert.deepEqual(types, ['ADDED', 'DELETED']);
  });

  test('who leaves a stream stops it in the worker', async () => {
    const stopped = Promise.withResolvers<void>();
    const { backend } = backendOn({
      answer: () => never,
      async *open(_body, abort) {
        abort.addEventListener('abort', () => stopped.resolve());
        yield 1;
        await never;
      },
    });
    for await (const value of backend.watch({ path: '/api/v1/pods' }, signal)) {
      assert.equal(value, 1);
      break;
    }
    await stopped.promise;
  });

  test('a worker that does not respond is busy, and a restart ends it with all that waits', async () => {
    let isHanging = true;
    const { backend, clock, busyChanges } = backendOn({
      answer: (question) => (isHanging ? never : Promise.resolve(question)),
      async *open() {
        yield 1;
        await never;
      },
    });
    const events = backend.watch({ path: '/api/v1/pods' }, signal)[Symbol.asyncIterator]();
    await events.next();
    const asked = backend.info(signal);
    await clock.advance(4_999);
    assert.equal(backend.isBusy, false);
    await clock.advance(1);
    assert.equal(backend.isBusy, true);
    isHanging = false;
    backend.restart();
    await assert.rejects(asked, /The sandbox was ended/);
    await assert.rejects(events.next(), /The sandbox was ended/);
    assert.equal(backend.isBusy, false);
    assert.equal(busyChanges(), 2);
    assert.equal(await backend.info(signal), 'info');
  });
});
