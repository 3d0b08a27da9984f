import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, test } from 'node:test';
import { mostServerLevels } from '#util/json-scan.ts';
import {
  arrived,
  failure,
  flow,
  get,
  never,
  patch,
  useApiClientRig,
} from '../../../../test/support/api-client-rig.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { ScriptedServer } from '../../../../test/support/scripted-server.ts';
import { freshMetrics } from '../../../../test/support/silent-telemetry.ts';
import type { KubeError } from '../kube-error.ts';

describe('kube/api-client failures', () => {
  const { serve, clientFor } = useApiClientRig();

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
    // The server hears a moment later of connections that were cut.
    while (server.openSockets > 4) await settle();
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

  test('no one listens: unavailable, for a write too', async () => {
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

  test('a body that is too long is not sent', async () => {
    const server = await serve(() => ({ status: 200, body: {} }));
    const client = clientFor(server.url);
    const body = { text: 'x'.repeat(100) };
    const error = await failure(client.request({ ...patch, body, maxBodyLength: 100 }, never));
    assert.equal(error.code, 'too-large');
    assert.equal(server.requests.length, 0);
    await client.request({ ...patch, body, maxBodyLength: 111 }, never);
  });

  test('an answer that is too large is cut off', async () => {
    const server = await serve(() => ({ status: 200, body: { a: 'x'.repeat(2_000) } }));
    const client = clientFor(server.url, { maxResponseBytes: 1_000 });
    assert.equal((await failure(client.request(get, never))).code, 'too-large');
  });

  test('an answer of the hub that would take too much memory, or is nested too deep, is not parsed', async () => {
    for (const body of [
      `[${'{},'.repeat(5_000_000)}{}]`,
      `["${'x'.repeat(4_200_000)}",${'['.repeat(mostServerLevels)}${']'.repeat(mostServerLevels)}]`,
    ]) {
      const server = await serve(() => ({ status: 200, body }));
      const error = await failure(clientFor(server.url).request(get, never));
      assert.equal(error.code, 'too-large');
      assert.match(error.message, /and was not parsed$/);
    }
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
