import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import {
  arrived,
  DeadlineClock,
  failure,
  flow,
  get,
  never,
  useApiClientRig,
} from '../../../../test/support/api-client-rig.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import type { Script } from '../../../../test/support/scripted-server.ts';

describe('kube/api-client streams', () => {
  const { serve, clientFor } = useApiClientRig();

  const watch = { path: '/watch', query: { watch: '1' }, flow } as const;

  test('gives text as it comes, whole characters only, and ends with the answer', async () => {
    const euro = Buffer.from('€');
    const server = await serve(async (_request, response) => {
      response.writeHead(200);
      response.write(Buffer.concat([Buffer.from('{"a":"'), euro.subarray(0, 1)]));
      await settle();
      response.end(Buffer.concat([euro.subarray(1), Buffer.from('"}\n')]));
      return undefined;
    });
    const stream = await clientFor(server.url).stream(watch, never);
    let text = '';
    for await (const chunk of stream.chunks) text += chunk;
    assert.equal(text, '{"a":"€"}\n');
    assert.equal(server.requests[0]?.path, '/watch?watch=1');
  });

  test('does not wait for requests, nor they for it', async () => {
    const server = await serve(({ path }, response) => {
      if (path === '/a') return { status: 200, body: {} };
      response.writeHead(200);
      response.flushHeaders();
      return undefined;
    });
    const client = clientFor(server.url, { connections: 1 });
    const streams = await Promise.all([1, 2, 3].map(() => client.stream(watch, never)));
    assert.equal((await client.request(get, never)).status, 200);
    for (const stream of streams) stream.close();
    while (server.openSockets > 1) await settle();
  });

  test('with a read rate, requests and streams wait after what was read at once', async () => {
    const clock = new FakeClock();
    let second: ServerResponse | undefined;
    const server = await serve(({ path }, response) => {
      if (path !== '/watch?watch=1') return { status: 200, body: { a: 'x'.repeat(3_000) } };
      second = response;
      response.writeHead(200);
      response.write('x'.repeat(2_000));
      return undefined;
    });
    const client = clientFor(server.url, { clock, readRate: { burst: 1_000, perSecond: 500 } });
    const other = clientFor(server.url);
    // What was sent before has arrived when others have been answered.
    const othersServed = async () => {
      for (let count = 0; count < 3; count++) await other.request({ ...get, path: '/b' }, never);
    };
    const ownRequests = () => server.requests.filter(({ path }) => path === '/a').length;
    await client.request(get, never);
    const again = client.request(get, never);
    // 3,008 characters were read of 1,000.
    await clock.advance(4_000);
    await othersServed();
    assert.equal(ownRequests(), 1);
    await clock.advance(100);
    await again;
    assert.equal(ownRequests(), 2);
    const stream = await client.stream(watch, never);
    const chunks = stream.chunks[Symbol.asyncIterator]();
    await chunks.next();
    second?.write('y');
    let isNext = false;
    const next = chunks.next().then(() => {
      isNext = true;
    });
    await othersServed();
    assert.equal(isNext, false);
    await clock.advance(20_000);
    await next;
    // Lines count more than their text.
    second?.write('\n\n');
    await chunks.next();
    second?.write('z');
    const third = chunks.next();
    await othersServed();
    await clock.advance(5_000);
    await othersServed();
    assert.equal(await Promise.race([third, 'waiting']), 'waiting');
    await clock.advance(5_000);
    await third;
    stream.close();
  });

  test('that is rejected reports the status', async () => {
    const body = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
    const server = await serve(() => ({ status: 410, body }));
    const stop = new AbortController();
    const error = await failure(clientFor(server.url).stream(watch, stop.signal));
    assert.deepEqual([error.code, error.message], ['gone', 'too old']);
    assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  });

  test('opens again with new credentials after a 401', async () => {
    const server = await serve(({ headers }) =>
      headers.authorization === 'new' ? { status: 200, body: 'x' } : { status: 401 },
    );
    const client = clientFor(server.url, {
      load: async ({ wasRejected }) => ({
        headers: { authorization: wasRejected ? 'new' : 'old' },
      }),
    });
    const stream = await client.stream(watch, never);
    for await (const chunk of stream.chunks) assert.equal(chunk, 'x');
  });

  for (const [how, end, code] of [
    ['breaks', 'server', 'unavailable'],
    ['is aborted', 'signal', 'aborted'],
    ['is closed', 'close', 'aborted'],
  ] as const) {
    test(`that ${how} throws ${code}, and leaves no connection and no listener`, async () => {
      const server = await serve((_request, response) => {
        response.writeHead(200);
        response.write('a');
        return undefined;
      });
      const stop = new AbortController();
      const stream = await clientFor(server.url).stream(watch, stop.signal);
      const reading = (async () => {
        for await (const _ of stream.chunks) {
          if (end === 'server') server.requests[0]?.message.socket.destroy();
          if (end === 'signal') stop.abort(new Error('enough'));
          if (end === 'close') stream.close();
        }
      })();
      assert.equal((await failure(reading)).code, code);
      assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
      while (server.openSockets > 0) await settle();
    });
  }

  for (const end of ['close', 'server', 'signal'] as const) {
    test(`that nothing reads may end without harm (${end})`, async () => {
      const server = await serve((_request, response) => {
        response.writeHead(200);
        response.write('a');
        return undefined;
      });
      const stop = new AbortController();
      const stream = await clientFor(server.url).stream(watch, stop.signal);
      if (end === 'close') stream.close();
      if (end === 'server') server.requests[0]?.message.socket.destroy();
      if (end === 'signal') stop.abort(new Error('enough'));
      while (server.openSockets > 0) await settle();
      for (let turn = 0; turn < 5; turn++) await settle();
      assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
    });
  }

  test('whose head does not come in 30 seconds is a timeout', async () => {
    const server = await serve(() => undefined);
    const clock = new FakeClock();
    const opening = failure(clientFor(server.url, { clock }).stream(watch, never));
    await arrived(server, 1);
    await clock.advance(30_000);
    assert.equal((await opening).code, 'timeout');
  });

  describe('whose rejection stalls', () => {
    /** Answers with the head of a rejection and a part of its body. */
    const stall = (status: number): Script => {
      return (_request, response) => {
        response.writeHead(status, { 'content-type': 'application/json', 'content-length': 100 });
        response.write('{"code":');
        return undefined;
      };
    };

    for (const [status, code] of [
      [410, 'gone'],
      [500, 'server-error'],
      [503, 'unavailable'],
    ] as const) {
      test(`is cut after 30 seconds, and reported by its status (${status})`, async () => {
        const server = await serve(stall(status));
        const clock = new DeadlineClock();
        const stop = new AbortController();
        const opening = failure(clientFor(server.url, { clock }).stream(watch, stop.signal));
        await clock.untilSet(2);
        await clock.advance(30_000);
        const error = await opening;
        assert.deepEqual(
          [error.code, error.message],
          [code, `The API server responded with status ${status}`],
        );
        assert.equal(clock.pending, 0);
        while (server.openSockets > 0) await settle();
        assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
      });
    }

    test('opens again after a 401 all the same', async () => {
      const server = await serve((request, response) =>
        request.headers.authorization === 'new'
          ? { status: 200, body: 'x' }
          : stall(401)(request, response),
      );
      const clock = new DeadlineClock();
      const load = async ({ wasRejected }: { readonly wasRejected: boolean }) => ({
        headers: { authorization: wasRejected ? 'new' : 'old' },
      });
      const opening = clientFor(server.url, { clock, load }).stream(watch, never);
      await clock.untilSet(2);
      await clock.advance(30_000);
      for await (const chunk of (await opening).chunks) assert.equal(chunk, 'x');
    });

    test('ends with the signal', async () => {
      const server = await serve(stall(500));
      const clock = new DeadlineClock();
      const stop = new AbortController();
      const opening = failure(clientFor(server.url, { clock }).stream(watch, stop.signal));
      await clock.untilSet(2);
      stop.abort(new Error('enough'));
      assert.equal((await opening).code, 'aborted');
      assert.equal(clock.pending, 0);
    });
  });
});
