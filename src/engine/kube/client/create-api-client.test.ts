import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import type { Clock } from '#util/clock.ts';
import {
  arrived,
  failure,
  flow,
  get,
  never,
  PausingClock,
  patch,
  useApiClientRig,
} from '../../../../test/support/api-client-rig.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { freshMetrics } from '../../../../test/support/silent-telemetry.ts';
import { KubeError } from '../kube-error.ts';

describe('kube/api-client', () => {
  const { serve, clientFor } = useApiClientRig();

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
      assert.equal(
        sent?.path,
        '/prefix/api/v1/a%3Ab?fieldManager=homeostat%2Fa%20b%26c&force=true',
      );
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

    test('a request tells when its turn has come, not when it joins the queue', async () => {
      const answers: (() => void)[] = [];
      const server = await serve(
        () => new Promise((resolve) => answers.push(() => resolve({ status: 200, body: {} }))),
      );
      const client = clientFor(server.url, { connections: 1 });
      const sent: string[] = [];
      const requests = ['first', 'second'].map((name) =>
        client.request({ ...get, onSend: () => sent.push(name) }, never),
      );
      await arrived(server, 1);
      assert.deepEqual(sent, ['first']);
      answers[0]?.();
      await arrived(server, 2);
      assert.deepEqual(sent, ['first', 'second']);
      answers[1]?.();
      await Promise.all(requests);
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

    for (const isOpen of [true, false]) {
      test(`is asked again before the last byte of what a socket may not take at once: ${isOpen ? 'open' : 'closed'}`, async () => {
        const server = await serve(() => ({ status: 200, body: {} }));
        const lost = new KubeError('aborted', 'The lease is lost', { status: 0 });
        let asked = 0;
        const client = clientFor(server.url, {
          beforeWrite: () => {
            asked += 1;
            if (asked === 2 && !isOpen) throw lost;
          },
        });
        const body = { text: 'ä'.repeat(200_000) };
        const answer = client.request({ ...patch, body }, never);
        if (isOpen) await answer;
        else assert.equal(await failure(answer), lost);
        assert.equal((await client.request(get, never)).status, 200);
        assert.equal(asked, 2);
        assert.deepEqual(
          server.requests.map(({ method, body: text }) => [
            method,
            text === '' ? '' : JSON.parse(text),
          ]),
          [...(isOpen ? [['PATCH', body]] : []), ['GET', '']],
        );
      });
    }

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
    await failure(client.request(get, never));
    const text = await metrics.expose();
    for (const code of ['200', '404', '<error>']) {
      assert.ok(
        text.includes(`rest_client_requests_total{code="${code}",method="GET",host="${host}"} 1`),
        text,
      );
    }
    assert.match(text, /homeostat_request_queue_depth\{priority="object"\} 0/);
    assert.match(text, /homeostat_requests_in_flight 0/);
  });

  test('a flow that floods leaves connections to the others', async () => {
    const held: (() => void)[] = [];
    const paths: string[] = [];
    const server = await serve(({ path }) => {
      paths.push(path);
      return new Promise((resolve) => held.push(() => resolve({ status: 200, body: {} })));
    });
    const client = clientFor(server.url, { connections: 4 });
    const ask = (name: string, count: number) =>
      Array.from({ length: count }, () =>
        client.request({ ...get, path: `/${name}`, flow: { name, priority: 'object' } }, never),
      );
    const flood = ask('flood', 20);
    await arrived(server, 4);
    const others = ask('other', 2);
    // Of the next four that are let in, two are the other's: it has its turns, and its share.
    for (let sent = 4; sent < 8; sent++) {
      held.shift()?.();
      await arrived(server, sent + 1);
    }
    assert.deepEqual(paths.slice(4).filter((path) => path === '/other').length, 2);
    for (let sent = 8; sent < 22; sent++) {
      held.shift()?.();
      await arrived(server, sent + 1);
    }
    for (const finish of held) finish();
    await Promise.all([...flood, ...others]);
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
    assert.equal(client.unreachable, undefined, 'a rejection is an answer');
    isAway = true;
    await failure(client.request(get, never));
    await clock.advance(4_000);
    await failure(client.stream({ path: '/watch', flow }, never));
    await clock.advance(1_000);
    assert.deepEqual(client.unreachable, { kind: 'unreachable', forMs: 5_000 });
    assert.match(await metrics.expose(), /^homeostat_api_server_reachable 0$/m);
    isAway = false;
    await failure(client.stream({ path: '/watch', flow }, never));
    assert.equal(client.unreachable, undefined);
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
    assert.equal(client.unreachable, undefined);
    await failure(client.request(get, never));
    await clock.advance(1_000);
    assert.deepEqual(client.unreachable, { kind: 'unauthorized', forMs: 1_000 });
  });
});
