import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect as netConnect } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import {
  type ReceivedRequest,
  type Script,
  ScriptedServer,
} from '../../../../test/support/scripted-server.ts';
import { freshMetrics, silentLogger } from '../../../../test/support/silent-telemetry.ts';
import type { ClusterConfig, Credentials } from '../config/cluster-config.ts';
import { type ClosableApiClient, createApiClient } from './create-api-client.ts';

function pem(name: string): string {
  return readFileSync(new URL(`../../../../test/fixtures/tls/${name}`, import.meta.url), 'utf8');
}

const never = new AbortController().signal;
const get = { method: 'GET', path: '/a', flow: { name: 'a', priority: 'object' } } as const;
const trusting: Credentials = { headers: {}, ca: pem('first-ca.crt') };
const client = { ...trusting, cert: pem('client.crt'), key: pem('client.key') };
const well: Script = () => ({ status: 200, body: {} });

describe('kube/connections', () => {
  const ends: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function serve(
    name: string,
    script: Script = well,
    more: object = {},
  ): Promise<ScriptedServer> {
    const tls = { cert: pem(`${name}.crt`), key: pem(`${name}.key`), ...more };
    const server = await ScriptedServer.start(script, tls);
    ends.push(() => server.stop());
    return server;
  }

  function connect(
    server: string,
    load: () => Credentials,
    { clock = new FakeClock(), ...config }: Partial<ClusterConfig> & { clock?: FakeClock } = {},
  ): ClosableApiClient {
    const api = createApiClient({
      config: {
        server,
        namespace: 'default',
        credentials: { load: async () => load() },
        ...config,
      },
      clock,
      logger: silentLogger(),
      metrics: freshMetrics(),
    });
    ends.push(() => api.close());
    return api;
  }

  test('the server must be vouched for by the authority of the credentials', async () => {
    const server = await serve('first-server');
    assert.equal((await connect(server.url, () => trusting).request(get, never)).status, 200);
    for (const ca of [pem('second-ca.crt'), undefined]) {
      const withoutTrust = connect(server.url, () => ({ headers: {}, ...(ca ? { ca } : {}) }));
      await assert.rejects(withoutTrust.request(get, never), { code: 'unavailable' });
    }
    assert.equal(server.requests.length, 1);
  });

  test('no one vouches where the check is switched off', async () => {
    const server = await serve('first-server');
    const api = connect(server.url, () => ({ headers: {} }), { skipsTlsVerify: true });
    assert.equal((await api.request(get, never)).status, 200);
  });

  test('a server may go by another name', async () => {
    const server = await serve('named-server');
    const byAddress = connect(server.url, () => trusting);
    await assert.rejects(byAddress.request(get, never), { code: 'unavailable' });
    const byName = connect(server.url, () => trusting, { tlsServerName: 'api.test' });
    assert.equal((await byName.request(get, never)).status, 200);
  });

  test('the client shows its certificate', async () => {
    const asking = { requestCert: true, ca: pem('first-ca.crt') };
    const server = await serve('first-server', well, asking);
    await connect(server.url, () => client).request(get, never);
    const socket = server.requests[0]?.message.socket as TLSSocket;
    assert.equal(socket.authorized, true);
    assert.equal(socket.getPeerCertificate().subject.CN, 'homeostat');
  });

  test('a new client certificate makes new connections; what is in flight ends on the old ones', async () => {
    let endWatch: () => void = () => assert.fail('No watch was opened');
    const script: Script = ({ path }, response) => {
      if (path === '/a') return { status: 200, body: {} };
      response.writeHead(200);
      response.flushHeaders();
      endWatch = () => response.end('late');
      return undefined;
    };
    const asking = { requestCert: true, rejectUnauthorized: false, ca: pem('first-ca.crt') };
    const server = await serve('first-server', script, asking);
    const clock = new FakeClock();
    let credentials = trusting;
    const api = connect(server.url, () => credentials, { clock });
    const stream = await api.stream({ path: '/watch', flow: get.flow }, never);
    await api.request(get, never);
    const before = server.connectionCount;
    credentials = client;
    await clock.advance(29_999);
    await api.request(get, never);
    assert.equal(server.connectionCount, before);
    await clock.advance(1);
    await api.request(get, never);
    assert.equal(server.connectionCount, before + 1);
    const shown = server.requests.map(({ message }) => (message.socket as TLSSocket).authorized);
    assert.deepEqual(shown.slice(-2), [false, true]);
    endWatch();
    let text = '';
    for await (const chunk of stream.chunks) text += chunk;
    assert.equal(text, 'late');
    while (server.openSockets > 1) await settle();
  });

  test('an HTTP proxy is a tunnel: it sees neither the request nor a certificate of its own', async () => {
    const server = await serve('first-server');
    const proxy = createServer();
    const asked: (string | undefined)[] = [];
    proxy.on('connect', (request, socket) => {
      asked.push(request.url);
      const { port } = new URL(server.url);
      const target = netConnect(Number(port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        target.pipe(socket).pipe(target);
      });
      socket.on('error', () => target.destroy());
      target.on('error', () => socket.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    ends.push(() => new Promise((resolve) => void proxy.close(() => resolve())));
    const { port } = proxy.address() as AddressInfo;
    const proxyUrl = `http://127.0.0.1:${port}`;
    const api = connect(server.url, () => trusting, { proxyUrl });
    assert.equal((await api.request(get, never)).status, 200);
    const withoutTrust = connect(server.url, () => ({ headers: {} }), { proxyUrl });
    await assert.rejects(withoutTrust.request(get, never), { code: 'unavailable' });
    assert.equal(server.requests.length, 1);
    assert.equal(asked[0], new URL(server.url).host);
  });

  test('a new token alone keeps the connections', async () => {
    const server = await serve('first-server');
    const clock = new FakeClock();
    let count = 0;
    const load = () => ({ ...trusting, headers: { authorization: `token-${count++}` } });
    const api = connect(server.url, load, { clock });
    for (let index = 0; index < 3; index++) {
      await api.request(get, never);
      await clock.advance(30_000);
    }
    assert.equal(server.connectionCount, 1);
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.authorization),
      ['token-0', 'token-1', 'token-2'],
    );
  });

  test('the lease does not wait for a plugin that hangs while it renews credentials', async () => {
    const server = await serve('first-server');
    const clock = new FakeClock();
    let reads = 0;
    const api = createApiClient({
      config: {
        server: server.url,
        namespace: 'default',
        credentials: {
          load: () => (reads++ === 0 ? Promise.resolve(trusting) : new Promise(() => {})),
        },
      },
      clock,
      logger: silentLogger(),
      metrics: freshMetrics(),
    });
    ends.push(() => api.close());
    await api.request(get, never);
    await clock.advance(60_000);
    const lease = { ...get, lane: 'lease' } as const;
    assert.equal((await api.request(lease, never)).status, 200);
    assert.equal(reads, 2);
  });

  for (const name of ['http', 'https'] as const) {
    test(`writes that are cut are reset, and later ones fail (${name})`, async () => {
      const arrived = Promise.withResolvers<ReceivedRequest>();
      const script: Script = (request) => {
        arrived.resolve(request);
        return new Promise(() => {});
      };
      const tls = { cert: pem('first-server.crt'), key: pem('first-server.key') };
      const server = await ScriptedServer.start(script, name === 'https' ? tls : undefined);
      ends.push(() => server.stop());
      const api = connect(server.url, () => trusting);
      const answer = api.request({ ...get, method: 'DELETE' }, never);
      const { message } = await arrived.promise;
      // What TLS makes of a reset depends on what it was at.
      const reset = once(message.socket, name === 'http' ? 'error' : 'close');
      const rejected = assert.rejects(answer);
      api.dropPendingWrites();
      await rejected;
      const [error] = await reset;
      if (name === 'http') assert.equal(error.code, 'ECONNRESET');
      await assert.rejects(api.request(get, never));
      assert.equal(server.requests.length, 1);
    });
  }
});
