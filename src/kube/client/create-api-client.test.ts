import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { type Script, ScriptedServer } from '../../../test/support/scripted-server.ts';
import { freshMetrics, silentLogger } from '../../../test/support/silent-telemetry.ts';
import type { Clock } from '../../util/clock.ts';
import type { Credentials } from '../config/cluster-config.ts';
import { KubeError } from '../kube-error.ts';
import type { ApiRequest } from './api-client.ts';
import {
  type ApiClientOptions,
  type ClosableApiClient,
  createApiClient,
} from './create-api-client.ts';

const flow = { name: 'a', priority: 'world' } as const;
const get: ApiRequest = { method: 'GET', path: '/a', flow };
const patch: ApiRequest = { method: 'PATCH', path: '/a', body: { a: 1 }, flow };
const never = new AbortController().signal;

describe('kube/api-client', () => {
  const ends: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function serve(script: Script): Promise<ScriptedServer> {
    const server = await ScriptedServer.start(script);
    ends.push(() => server.stop());
    return server;
  }

  function clientFor(
    server: string,
    options: Partial<Omit<ApiClientOptions, 'config'>> & {
      readonly load?: (why: { readonly wasRefused: boolean }) => Promise<Credentials>;
    } = {},
  ): ClosableApiClient {
    const { load = async () => ({ headers: {} }), ...rest } = options;
    const client = createApiClient({
      config: { server, namespace: 'default', credentials: { load } },
      clock: new FakeClock(),
      logger: silentLogger(),
      metrics: freshMetrics(),
      ...rest,
    });
    ends.push(() => client.close());
    return client;
  }

  async function failure(work: Promise<unknown>): Promise<KubeError> {
    const error = await work.then(
      () => undefined,
      (found: unknown) => found,
    );
    assert.ok(error instanceof KubeError, `Expected a KubeError, found ${String(error)}`);
    return error;
  }

  /** Resolves when the server has got so many requests. */
  async function arrived(server: ScriptedServer, count: number): Promise<void> {
    while (server.requests.length < count) await settle();
  }

  describe('what is sent', () => {
    test('the prefix of the server, the query, the headers and JSON', async () => {
      const server = await serve(() => ({ status: 200, body: { b: 2 } }));
      const client = clientFor(`${server.url}/prefix/`, {
        load: async () => ({ headers: { authorization: 'Bearer t' } }),
      });
      const answer = await client.request(
        {
          ...patch,
          path: '/api/v1/a%3Ab',
          query: { fieldManager: 'homeostat/a b&c', force: 'true' },
          contentType: 'application/apply-patch+yaml',
        },
        never,
      );
      assert.deepEqual(answer, { status: 200, body: { b: 2 } });
      const [sent] = server.requests;
      assert.equal(sent?.path, '/prefix/api/v1/a%3Ab?fieldManager=homeostat%2Fa+b%26c&force=true');
      assert.equal(sent?.body, '{"a":1}');
      const {
        authorization,
        accept,
        'content-type': type,
        'user-agent': agent,
      } = sent?.headers ?? {};
      assert.deepEqual(
        [authorization, accept, type, agent],
        ['Bearer t', 'application/json', 'application/apply-patch+yaml', 'homeostat'],
      );
    });

    test('connections are kept and never more than there may be', async () => {
      const answers: (() => void)[] = [];
      const server = await serve(
        () => new Promise((resolve) => answers.push(() => resolve({ status: 200, body: {} }))),
      );
      const client = clientFor(server.url, { connections: 3 });
      const all = Promise.all(Array.from({ length: 30 }, () => client.request(get, never)));
      for (let served = 0; served < 30; served++) {
        // Three wait for their answers all the time, but at the end.
        await arrived(server, Math.min(served + 3, 30));
        assert.equal(answers.length, Math.min(3, 30 - served));
        answers.shift()?.();
      }
      await all;
      assert.equal(server.connectionCount, 3);
    });

    test('the lease does not wait for a full queue', async () => {
      const server = await serve((request) =>
        request.path === '/lease' ? { status: 200, body: {} } : undefined,
      );
      const client = clientFor(server.url, { connections: 1 });
      const stop = new AbortController();
      const stuck = client.request(get, stop.signal);
      const lease = { ...get, path: '/lease', lane: 'lease' } as const;
      assert.equal((await client.request(lease, never)).status, 200);
      stop.abort();
      await assert.rejects(stuck);
    });
  });

  describe('the fence', () => {
    test('ends a write before anything of it is sent', async () => {
      const server = await serve(() => ({ status: 200, body: {} }));
      const lost = new KubeError('aborted', 'The lease is lost', { status: 0 });
      const client = clientFor(server.url, {
        beforeWrite: () => {
          throw lost;
        },
      });
      assert.equal(await failure(client.request(patch, never)), lost);
      assert.equal((await client.request(get, never)).status, 200);
      const lease = { ...patch, path: '/lease', lane: 'lease' } as const;
      assert.equal((await client.request(lease, never)).status, 200);
      assert.deepEqual(
        server.requests.map(({ method, path }) => `${method} ${path}`),
        ['GET /a', 'PATCH /lease'],
      );
    });

    test('is asked again when the server made us wait', async () => {
      const server = await serve(() =>
        server.requests.length === 1
          ? { status: 429, headers: { 'retry-after': '1' } }
          : { status: 200, body: {} },
      );
      let asked = 0;
      const clock = new PausingClock();
      const client = clientFor(server.url, { clock, beforeWrite: () => void asked++ });
      const answer = client.request(patch, never);
      await clock.untilPaused(1);
      assert.equal(asked, 1);
      await clock.advance(1_000);
      await answer;
      assert.equal(asked, 2);
    });
  });

  describe('a server that asks for a pause', () => {
    for (const status of [429, 503]) {
      test(`gets the request again after it (${status})`, async () => {
        const server = await serve(() =>
          server.requests.length === 1
            ? { status, headers: { 'retry-after': '7' } }
            : { status: 200, body: {} },
        );
        const clock = new PausingClock();
        const client = clientFor(server.url, { clock });
        const answer = client.request(get, never);
        await clock.untilPaused(1);
        assert.deepEqual(clock.pauses, [7_000]);
        await clock.advance(7_000);
        assert.equal((await answer).status, 200);
      });
    }

    test('does not keep a connection from others meanwhile', async () => {
      const server = await serve(({ path }) =>
        path === '/a'
          ? { status: 429, headers: { 'retry-after': '7' } }
          : { status: 200, body: {} },
      );
      const clock = new PausingClock();
      const client = clientFor(server.url, { clock, connections: 1 });
      const stop = new AbortController();
      const paused = client.request(get, stop.signal);
      await clock.untilPaused(1);
      assert.equal((await client.request({ ...get, path: '/b' }, never)).status, 200);
      stop.abort(new Error('enough'));
      assert.equal((await failure(paused)).code, 'aborted');
      assert.equal(clock.pending, 0);
      assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
    });

    test('is believed ten times', async () => {
      const server = await serve(() => ({ status: 429, headers: { 'retry-after': '1' } }));
      const clock = new PausingClock();
      const answer = failure(clientFor(server.url, { clock }).request(get, never));
      for (let index = 0; index < 9; index++) {
        await clock.untilPaused(index + 1);
        await clock.advance(1_000);
      }
      assert.equal((await answer).code, 'too-many-requests');
      assert.equal(server.requests.length, 10);
    });

    for (const [why, headers, status] of [
      ['names no time', {}, 429],
      ['wants more than a minute', { 'retry-after': '61' }, 429],
      ['answers something else', { 'retry-after': '1' }, 500],
    ] as const) {
      test(`is left to the caller when it ${why}`, async () => {
        const server = await serve(() => ({ status, headers }));
        assert.equal((await failure(clientFor(server.url).request(get, never))).status, status);
        assert.equal(server.requests.length, 1);
      });
    }
  });

  describe('what goes wrong', () => {
    test('an abort in flight cuts the connection and leaves nothing behind', async () => {
      const server = await serve(({ path }) =>
        path === '/a' ? undefined : { status: 200, body: {} },
      );
      const clock = new FakeClock();
      const client = clientFor(server.url, { clock, connections: 1 });
      const stop = new AbortController();
      const stuck = client.request(patch, stop.signal);
      await arrived(server, 1);
      stop.abort(new Error('enough'));
      assert.equal((await failure(stuck)).code, 'aborted');
      assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
      assert.equal(clock.pending, 0);
      while (server.openSockets > 0) await settle();
      assert.equal((await client.request({ ...get, path: '/b' }, never)).status, 200);
    });

    test('an abort before the connection is there is heard at once, and nothing is sent later', async () => {
      // It takes connections and never says a word: no TLS, no request.
      const received: string[] = [];
      const silent = createTcpServer((socket) => socket.on('data', () => received.push('data')));
      silent.listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      let asked = 0;
      const client = clientFor(`https://127.0.0.1:${port}`, { beforeWrite: () => void asked++ });
      const stop = new AbortController();
      const request = failure(client.request(patch, stop.signal));
      const stream = failure(client.stream({ path: '/watch', flow }, stop.signal));
      while (received.length < 2) await settle();
      stop.abort(new Error('enough'));
      assert.equal((await request).code, 'aborted');
      assert.equal((await stream).code, 'aborted');
      assert.equal(asked, 0);
      assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
      await client.close();
      silent.close();
      await once(silent, 'close');
    });

    test('a storm of aborts, queued and in flight, leaves every connection usable', async () => {
      const server = await serve(async () => {
        for (let turn = 0; turn < server.requests.length % 5; turn++) await settle();
        return { status: 200, body: {} };
      });
      const metrics = freshMetrics();
      const client = clientFor(server.url, { connections: 4, metrics });
      const shared = new AbortController();
      const outcomes: string[] = [];
      const work = Array.from({ length: 300 }, async (_, index) => {
        const own = new AbortController();
        const { signal } = index % 3 === 0 ? shared : own;
        const request = { ...patch, flow: { ...flow, name: `${index % 5}` } };
        const outcome = client.request(request, signal).then(
          () => 'answered',
          (error: KubeError) => error.code,
        );
        for (let turn = 0; turn < index % 17; turn++) await settle();
        if (index % 2 === 0) own.abort(new Error('enough'));
        if (index === 150) shared.abort(new Error('enough'));
        outcomes.push(await outcome);
        assert.equal(getEventListeners(own.signal, 'abort').length, 0);
      });
      await Promise.all(work);
      assert.deepEqual([...new Set(outcomes)].sort(), ['aborted', 'answered']);
      assert.equal(getEventListeners(shared.signal, 'abort').length, 0);
      assert.match(await metrics.expose(), /homeostat_requests_in_flight 0/);
      await Promise.all([1, 2, 3, 4, 5].map(() => client.request(get, never)));
      assert.ok(server.openSockets <= 4, `${server.openSockets} sockets`);
    });

    test('a signal that lives on collects no listeners', async () => {
      const server = await serve(() => ({ status: 200, body: {} }));
      const client = clientFor(server.url);
      const { signal } = new AbortController();
      for (let index = 0; index < 20; index++) await client.request(get, signal);
      assert.equal(getEventListeners(signal, 'abort').length, 0);
    });

    test('no answer in time is a timeout', async () => {
      const server = await serve(() => undefined);
      const clock = new FakeClock();
      const answer = failure(
        clientFor(server.url, { clock }).request({ ...get, timeoutMs: 5_000 }, never),
      );
      await arrived(server, 1);
      await clock.advance(5_000);
      assert.equal((await answer).code, 'timeout');
    });

    test('nobody listens: unavailable, for a write too', async () => {
      const server = await ScriptedServer.start(() => undefined);
      const { url } = server;
      await server.stop();
      assert.equal((await failure(clientFor(url).request(patch, never))).code, 'unavailable');
    });

    for (const [request, code] of [
      [patch, 'connection-lost'],
      [get, 'unavailable'],
    ] as const) {
      test(`a connection that breaks after a ${request.method} was sent: ${code}`, async () => {
        const server = await serve(({ message }) => {
          message.socket.destroy();
          return undefined;
        });
        assert.equal((await failure(clientFor(server.url).request(request, never))).code, code);
        assert.equal(server.requests.length, 1);
      });
    }

    test('a body that breaks off is no answer', async () => {
      const server = await serve((_request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"a":');
        response.destroy();
        return undefined;
      });
      assert.equal(
        (await failure(clientFor(server.url).request(patch, never))).code,
        'connection-lost',
      );
    });

    test('an answer that is too large is cut off', async () => {
      const server = await serve(() => ({ status: 200, body: { a: 'x'.repeat(2_000) } }));
      const client = clientFor(server.url, { maxAnswerBytes: 1_000 });
      assert.equal((await failure(client.request(get, never))).code, 'unexpected');
    });

    test('an answer that is no JSON is unexpected, and not quoted', async () => {
      const server = await serve(() => ({ status: 200, body: 'secret' }));
      const error = await failure(clientFor(server.url).request(get, never));
      assert.equal(error.code, 'unexpected');
      assert.doesNotMatch(error.message, /secret/);
    });

    test('a closed client sends nothing', async () => {
      const server = await serve(() => ({ status: 200, body: {} }));
      const client = clientFor(server.url);
      await client.request(get, never);
      await client.close();
      await failure(client.request(get, never));
      assert.equal(server.requests.length, 1);
    });
  });

  describe('credentials', () => {
    /** Answers 401 to every token but one. */
    function guarded(token: string): Script {
      return ({ headers }) =>
        headers.authorization === token ? { status: 200, body: {} } : { status: 401 };
    }

    test('are renewed after a 401, and the request is sent once more', async () => {
      const server = await serve(guarded('new'));
      const why: boolean[] = [];
      const client = clientFor(server.url, {
        load: async ({ wasRefused }) => {
          why.push(wasRefused);
          return { headers: { authorization: wasRefused ? 'new' : 'old' } };
        },
      });
      assert.equal((await client.request(patch, never)).status, 200);
      assert.deepEqual(why, [false, true]);
      assert.equal(server.requests.length, 2);
    });

    test('that somebody else has renewed meanwhile are taken, not renewed again', async () => {
      let refuseLate: () => void = () => assert.fail('Nobody is late');
      const server = await serve(({ path, headers }) => {
        if (headers.authorization === 'new') return { status: 200, body: {} };
        if (path === '/a') return { status: 401 };
        return new Promise((resolve) => {
          refuseLate = () => resolve({ status: 401 });
        });
      });
      let loads = 0;
      const client = clientFor(server.url, {
        load: async () => ({ headers: { authorization: loads++ === 0 ? 'old' : 'new' } }),
      });
      const late = client.request({ ...get, path: '/late' }, never);
      await arrived(server, 1);
      assert.equal((await client.request(get, never)).status, 200);
      refuseLate();
      assert.equal((await late).status, 200);
      assert.equal(loads, 2);
    });

    test('that stay the same are not tried again', async () => {
      const server = await serve(guarded('new'));
      const load = async () => ({ headers: { authorization: 'old' } });
      const client = clientFor(server.url, { load });
      assert.equal((await failure(client.request(get, never))).code, 'unauthorized');
      assert.equal(server.requests.length, 1);
    });

    test('that are refused are renewed by one for all, and at most every ten seconds', async () => {
      const server = await serve(guarded('none'));
      let loads = 0;
      const load = async () => ({ headers: { authorization: `token-${loads++}` } });
      const clock = new FakeClock();
      const client = clientFor(server.url, { clock, load });
      await Promise.all(Array.from({ length: 20 }, () => failure(client.request(get, never))));
      await failure(client.request(get, never));
      assert.equal(loads, 2);
      await clock.advance(10_000);
      await failure(client.request(get, never));
      assert.equal(loads, 3);
    });

    test('are read again after 30 seconds, and the old ones kept while that fails', async () => {
      const server = await serve(() => ({ status: 200, body: {} }));
      const loads: (() => Credentials)[] = [
        () => ({ headers: { authorization: 'first' } }),
        () => {
          throw new Error('file is gone');
        },
        () => ({ headers: { authorization: 'third' } }),
      ];
      const clock = new FakeClock();
      const load = async () => (loads.shift() ?? assert.fail('read too often'))();
      const client = clientFor(server.url, { clock, load });
      for (const waitMs of [29_999, 1, 30_000, 0]) {
        await client.request(get, never);
        await clock.advance(waitMs);
      }
      assert.deepEqual(
        server.requests.map(({ headers }) => headers.authorization),
        ['first', 'first', 'first', 'third'],
      );
    });

    test('that cannot be had at all make every request fail, and say why', async () => {
      const client = clientFor('http://127.0.0.1:9', {
        load: () => Promise.reject(new Error('no such plugin')),
      });
      const error = await failure(client.request(get, never));
      assert.deepEqual([error.code, error.status], ['unauthorized', 0]);
      assert.match(error.message, /no such plugin/);
    });

    test('that never come can be given up waiting for', async () => {
      const stop = new AbortController();
      const client = clientFor('http://127.0.0.1:9', { load: () => new Promise(() => undefined) });
      const waiting = failure(client.request(get, stop.signal));
      await settle();
      stop.abort(new Error('enough'));
      assert.equal((await waiting).code, 'aborted');
      assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
    });
  });

  describe('a stream', () => {
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

    test('that is refused tells the status', async () => {
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
        load: async ({ wasRefused }) => ({
          headers: { authorization: wasRefused ? 'new' : 'old' },
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
      test(`that nobody reads may end without harm (${end})`, async () => {
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

    describe('whose refusal stalls', () => {
      /** Answers with the head of a refusal and a part of its body. */
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
        test(`is cut after 30 seconds, and told by its status (${status})`, async () => {
          const server = await serve(stall(status));
          const clock = new DeadlineClock();
          const stop = new AbortController();
          const opening = failure(clientFor(server.url, { clock }).stream(watch, stop.signal));
          await clock.untilSet(2);
          await clock.advance(30_000);
          const error = await opening;
          assert.deepEqual([error.code, error.message], [code, `The server answered ${status}`]);
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
        const load = async ({ wasRefused }: { readonly wasRefused: boolean }) => ({
          headers: { authorization: wasRefused ? 'new' : 'old' },
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

  test('counts tries by status, and those without an answer', async () => {
    const server = await serve(({ path }) =>
      path === '/a' ? { status: 200, body: {} } : { status: 404 },
    );
    const metrics = freshMetrics();
    const clock: Clock = new FakeClock();
    const client = clientFor(server.url, { metrics, clock });
    await client.request(get, never);
    await failure(client.request({ ...get, path: '/b' }, never));
    const { host } = new URL(server.url);
    await server.stop();
    ends.shift();
    await failure(client.request(get, never));
    const text = await metrics.expose();
    for (const code of ['200', '404', '<error>']) {
      assert.ok(
        text.includes(`rest_client_requests_total{code="${code}",method="GET",host="${host}"} 1`),
        text,
      );
    }
    assert.match(text, /homeostat_request_queue_depth\{priority="world"\} 0/);
    assert.match(text, /homeostat_requests_in_flight 0/);
  });

  test('knows since when the server has not answered, and that it answers again', async () => {
    const clock = new FakeClock();
    const metrics = freshMetrics();
    let isAway = false;
    const server = await serve(({ message }) => {
      if (!isAway) return { status: 403, body: {} };
      message.socket.destroy();
      return undefined;
    });
    const client = clientFor(server.url, { clock, metrics });
    await failure(client.request(get, never));
    assert.equal(client.unreachableForMs, 0, 'a refusal is an answer');
    isAway = true;
    await failure(client.request(get, never));
    await clock.advance(4_000);
    await failure(client.stream({ path: '/watch', flow }, never));
    await clock.advance(1_000);
    assert.equal(client.unreachableForMs, 5_000);
    assert.match(await metrics.expose(), /^homeostat_api_server_reachable 0$/m);
    isAway = false;
    await failure(client.stream({ path: '/watch', flow }, never));
    assert.equal(client.unreachableForMs, 0);
    assert.match(await metrics.expose(), /^homeostat_api_server_reachable 1$/m);
  });

  test('a server that does not let us in is as good as none, and an abort says nothing', async () => {
    const clock = new FakeClock();
    const server = await serve(({ path }) =>
      path === '/a' ? { status: 401, body: {} } : undefined,
    );
    const client = clientFor(server.url, { clock });
    const stop = new AbortController();
    const hanging = failure(client.request({ ...get, path: '/hangs' }, stop.signal));
    await arrived(server, 1);
    stop.abort();
    await hanging;
    await clock.advance(1_000);
    assert.equal(client.unreachableForMs, 0);
    await failure(client.request(get, never));
    await clock.advance(1_000);
    assert.equal(client.unreachableForMs, 1_000);
  });
});

/** A fake clock that notes the pauses that were asked for. */
class PausingClock extends FakeClock {
  readonly pauses: number[] = [];

  override sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.pauses.push(ms);
    return super.sleep(ms, signal);
  }

  /** Resolves when so many pauses have begun. */
  async untilPaused(count: number): Promise<void> {
    while (this.pauses.length < count) await settle();
  }
}

/** A fake clock that counts the deadlines of 30 seconds: the head of a stream has one, and its refusal another. */
class DeadlineClock extends FakeClock {
  #set = 0;

  override after(ms: number, callback: () => void): () => void {
    if (ms === 30_000) this.#set += 1;
    return super.after(ms, callback);
  }

  async untilSet(count: number): Promise<void> {
    while (this.#set < count) await settle();
  }
}
