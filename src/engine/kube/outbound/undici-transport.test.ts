import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createSystemClock } from '#util/clock.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import {
  authorityCertificate,
  serverCertificate,
} from '../../../../test/support/fault-proxy/index.ts';
import { type Script, ScriptedServer } from '../../../../test/support/scripted-server.ts';
import { KubeError } from '../kube-error.ts';
import type { TransportRequest } from './outbound-http.ts';
import {
  OutboundNotAllowedError,
  OutboundPolicy,
  type OutboundPolicyOptions,
  type ServiceName,
} from './outbound-policy.ts';
import { type ServiceCheck, UndiciTransport } from './undici-transport.ts';

const { signal } = new AbortController();
const loopback = { allowed: ['127.0.0.1'] };

describe('kube/outbound transport', () => {
  const cleanUps: (() => Promise<unknown>)[] = [];
  after(() => Promise.all(cleanUps.map((cleanUp) => cleanUp())));

  async function server(script: Script, tls?: Parameters<typeof ScriptedServer.start>[1]) {
    const started = await ScriptedServer.start(script, tls);
    cleanUps.push(() => started.stop());
    return started;
  }

  function transport(
    policy: OutboundPolicyOptions = loopback,
    more: {
      readonly clock?: FakeClock;
      readonly lookup?: LookupFunction;
      readonly services?: ServiceCheck;
    } = {},
  ): UndiciTransport {
    const created = new UndiciTransport({
      ...{ policy: new OutboundPolicy(policy), clock: createSystemClock() },
      services: { confirm: () => Promise.reject(new Error('Not expected')) },
      ...more,
    });
    cleanUps.push(() => created.close());
    return created;
  }

  const request = (url: string, more: Partial<TransportRequest> = {}): TransportRequest => ({
    ...{ method: 'GET', url, headers: {}, timeoutMs: 30_000, maxBytes: 1024 * 1024 },
    ...{ tls: {}, namespace: 'shop' },
    ...more,
  });

  test('sends a request, and reads its answer', async () => {
    const { url, requests } = await server(() => ({
      status: 201,
      body: { a: 'ü' },
      headers: { 'X-Tag': 'b' },
    }));
    const answer = await transport().send(
      request(`${url}/v1/x?a=b`, { method: 'PUT', headers: { 'x-key': 'k' }, body: '{"c":1}' }),
      signal,
    );
    assert.deepEqual(
      [answer.status, answer.body, answer.headers['x-tag']],
      [201, '{"a":"ü"}', 'b'],
    );
    const [received] = requests;
    assert.deepEqual(
      [received?.method, received?.path, received?.body, received?.headers['x-key']],
      ['PUT', '/v1/x?a=b', '{"c":1}', 'k'],
    );
    assert.equal(received?.headers['accept-encoding'], 'identity');
  });

  test('a Service does not lead to a protected address behind its cluster IP', async () => {
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(null, [{ address: '10.96.7.7', family: 4 }]);
    const sender = transport(
      { protectedAddresses: () => ['10.9.0.1'] },
      {
        lookup,
        services: {
          confirm: async () => [
            { address: '10.1.0.9', ports: [6443] },
            { address: '10.9.0.1', ports: [6443] },
          ],
        },
      },
    );
    await assert.rejects(sender.send(request('http://api.shop.svc:6443'), signal), {
      ...{ code: 'address-not-allowed', mayHaveArrived: false },
    });
  });

  for (const [rule, port, expected] of [
    [undefined, 8080, 'address-not-allowed'],
    ['192.0.2.7:10250', 10_250, 'unreachable'],
    // The port of the Service is chosen by its author.
    ['192.0.2.7:80', 10_250, 'address-not-allowed'],
    ['192.0.2.0/24', 10_250, 'unreachable'],
  ] as const)
    test(`a Pod in the network of its node at port ${port} with the rule ${rule}: ${expected}`, async () => {
      const lookup: LookupFunction = (_host, _options, callback) =>
        callback(null, [{ address: '10.96.7.7', family: 4 }]);
      const clock = new FakeClock();
      const sender = transport(
        { allowed: rule === undefined ? [] : [rule] },
        {
          ...{ lookup, clock },
          services: {
            confirm: async () => [
              { address: '10.1.0.9', ports: [port] },
              { address: '192.0.2.7', ports: [port], podOnNode: 'agent-1' },
            ],
          },
        },
      );
      const sent = sender.send(request('http://api.shop.svc', { timeoutMs: 1_000 }), signal);
      if (expected === 'unreachable') {
        // A connection is tried, to an address that does not exist here.
        const failed = assert.rejects(sent, (error: { readonly code: string }) =>
          ['timeout', 'unreachable'].includes(error.code),
        );
        await clock.advance(1_000);
        await failed;
        return;
      }
      await assert.rejects(sent, {
        ...{ code: expected, mayHaveArrived: false },
        message: `"api.shop.svc" leads to Pod "agent-1" in the network of its node; an administrator can allow 192.0.2.7:${port} with --http-allow`,
      });
    });

  test('follows no redirect', async () => {
    const { url, requests } = await server(() => ({ status: 302, headers: { location: '/y' } }));
    assert.equal((await transport().send(request(`${url}/x`), signal)).status, 302);
    assert.equal(requests.length, 1);
  });

  test('a rejected connection was not sent', async () => {
    const stopped = await server(() => ({ status: 200 }));
    const { url } = stopped;
    await stopped.stop();
    await assert.rejects(transport().send(request(url), signal), {
      ...{ code: 'unreachable', mayHaveArrived: false },
      message: `No connection to ${new URL(url).host} (ECONNREFUSED)`,
    });
  });

  test('a server without TLS is named', async () => {
    const { url } = await server(() => ({ status: 200 }));
    const { host } = new URL(url);
    await assert.rejects(transport().send(request(`https://${host}/`), signal), {
      ...{ code: 'unreachable', mayHaveArrived: false },
      message: `${host} does not speak TLS (ERR_SSL_WRONG_VERSION_NUMBER); use "http://"`,
    });
  });

  test('a connection that ends before the answer may have been sent', async () => {
    const { url } = await server(({ message }) => void message.socket.destroy());
    await assert.rejects(transport().send(request(url, { method: 'POST', body: 'x' }), signal), {
      ...{ code: 'connection-lost', mayHaveArrived: true },
    });
  });

  test('a body that ends early is no answer', async () => {
    const { url } = await server(({ message }, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => message.socket.destroy());
      return undefined;
    });
    await assert.rejects(transport().send(request(url), signal), { code: 'connection-lost' });
  });

  test('a slow body ends at the deadline, however often a byte arrives', async () => {
    const clock = new FakeClock();
    const begun = Promise.withResolvers<void>();
    const { url } = await server((_, response) => {
      response.writeHead(200);
      response.write('a', () => begun.resolve());
      return undefined;
    });
    const sent = transport(loopback, { clock }).send(request(url, { timeoutMs: 10_000 }), signal);
    const failed = assert.rejects(sent, {
      ...{ code: 'timeout', mayHaveArrived: true, message: 'No whole answer within 10000 ms' },
    });
    await begun.promise;
    await clock.advance(10_000);
    await failed;
    assert.equal(clock.pending, 0);
  });

  test('a large body is cut', async () => {
    const { url } = await server(() => ({ status: 200, body: 'x'.repeat(70_000) }));
    await assert.rejects(transport().send(request(url, { maxBytes: 65_000 }), signal), {
      ...{ code: 'answer-too-large', mayHaveArrived: true },
    });
  });

  test('memory is reserved before more than 64 KiB are read', async () => {
    const { url } = await server(() => ({ status: 200, body: 'x'.repeat(500_000) }));
    let reserved = 0;
    const onLargeAnswer = async () => {
      reserved += 1;
    };
    const answer = await transport().send(request(url, { onLargeAnswer }), signal);
    assert.deepEqual([answer.body.length, reserved], [500_000, 1]);
  });

  test('a compressed body is not decompressed', async () => {
    const { url } = await server((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync('x'.repeat(10_000_000)));
      return undefined;
    });
    await assert.rejects(transport().send(request(url), signal), { code: 'answer-encoded' });
  });

  test('huge headers are rejected', async () => {
    const { url } = await server(() => ({ status: 200, headers: { a: 'x'.repeat(100_000) } }));
    await assert.rejects(transport().send(request(url), signal), { code: 'connection-lost' });
  });

  test('a request that must not be sent is not sent', async () => {
    const { url, requests } = await server(() => ({ status: 200 }));
    const beforeSend = () => {
      throw new Error('Not the leader');
    };
    await assert.rejects(transport().send(request(url, { beforeSend }), signal), {
      ...{ code: 'aborted', mayHaveArrived: false, message: 'Not the leader' },
    });
    assert.equal(requests.length, 0);
  });

  test('an aborted request ends', async () => {
    const stop = new AbortController();
    const begun = Promise.withResolvers<void>();
    const { url } = await server(() => void begun.resolve());
    const sent = transport().send(request(url), stop.signal);
    await begun.promise;
    stop.abort(new Error('stop'));
    await assert.rejects(sent, { code: 'aborted', mayHaveArrived: true });
    await assert.rejects(transport().send(request(url), stop.signal), { code: 'aborted' });
  });

  test('an address that is not allowed is not connected to', async () => {
    const started = await server(() => ({ status: 200 }));
    for (const url of [
      started.url,
      started.url.replace('127.0.0.1', '[::ffff:127.0.0.1]'),
      started.url.replace('127.0.0.1', '2130706433'),
      started.url.replace('127.0.0.1', '0x7f.1'),
    ])
      await assert.rejects(transport({}).send(request(url), signal), {
        ...{ code: 'address-not-allowed', mayHaveArrived: false },
      });
    assert.equal(started.connectionCount, 0);
  });

  test('a name that resolves to another address later is checked again', async () => {
    const started = await server(() => ({ status: 200, headers: { connection: 'close' } }));
    const { port } = new URL(started.url);
    let address = '127.0.0.1';
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(null, [{ address, family: 4 }]);
    // Loopback stands for any address that is allowed.
    const sender = transport({ allowed: ['*.shop.svc', '127.0.0.1'] }, { lookup });
    const send = () => sender.send(request(`http://api.shop.svc:${port}/`), signal);
    assert.equal((await send()).status, 200);
    address = '169.254.169.254';
    await assert.rejects(send(), { code: 'address-not-allowed', mayHaveArrived: false });
    assert.equal(started.connectionCount, 1);
  });

  test('one address that is not allowed rejects all of a name', async () => {
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(null, [
        { address: '10.96.7.7', family: 4 },
        { address: '169.254.169.254', family: 4 },
      ]);
    await assert.rejects(transport({}, { lookup }).send(request('http://api.shop.svc/'), signal), {
      code: 'address-not-allowed',
    });
  });

  test('the address of a Service is used only when it is confirmed', async () => {
    const { url, requests } = await server(() => ({ status: 200 }));
    const { port } = new URL(url);
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    const asked: (readonly [ServiceName, readonly string[]])[] = [];
    const services = (error?: Error): ServiceCheck => ({
      async confirm(...[service, addresses]) {
        asked.push([service, addresses]);
        if (error) throw error;
        return [];
      },
    });
    const send = (check: ServiceCheck, policy: OutboundPolicyOptions) =>
      transport(policy, { lookup, services: check }).send(
        request(`http://api.shop.svc:${port}/`),
        signal,
      );
    // The address itself is never permitted for a Service.
    await assert.rejects(send(services(), {}), { code: 'address-not-allowed' });
    assert.deepEqual(asked, []);
    const unprotected = new OutboundPolicy();
    unprotected.checkAddress = () => 'service';
    const sendUnprotected = (check: ServiceCheck) => {
      const sender = new UndiciTransport({
        ...{ policy: unprotected, services: check, clock: createSystemClock(), lookup },
      });
      cleanUps.push(() => sender.close());
      return sender.send(request(`http://api.shop.svc:${port}/`), signal);
    };
    const notAllowed = new OutboundNotAllowedError('Service "api" has the type ExternalName');
    await assert.rejects(sendUnprotected(services(notAllowed)), {
      ...{ code: 'address-not-allowed', mayHaveArrived: false, message: notAllowed.message },
    });
    const unknown = new KubeError('unavailable', 'The API server is down', { status: 503 });
    await assert.rejects(sendUnprotected(services(unknown)), {
      ...{ code: 'unreachable', mayHaveArrived: false },
    });
    assert.equal(requests.length, 0);
    assert.equal((await sendUnprotected(services())).status, 200);
    assert.deepEqual(asked[0], [{ namespace: 'shop', name: 'api' }, ['127.0.0.1']]);
  });

  test('closing ends the requests of connections that make room for others, too', async () => {
    const begun = Promise.withResolvers<void>();
    const { url } = await server(() => {
      begun.resolve();
      return new Promise(() => {});
    });
    const sender = transport();
    const first = assert.rejects(sender.send(request(url), signal), { code: 'connection-lost' });
    await begun.promise;
    const others = Array.from({ length: 200 }, (_, index) =>
      sender.send(request(url, { namespace: `ns-${index}` }), signal).catch(() => {}),
    );
    await sender.close();
    await Promise.all([first, ...others]);
  });

  test('a certificate of another authority is rejected, and one of the given authority accepted', async () => {
    const { url, requests } = await server(() => ({ status: 200 }), serverCertificate('first'));
    await assert.rejects(transport().send(request(url), signal), {
      ...{ code: 'certificate-rejected', mayHaveArrived: false },
    });
    assert.equal(requests.length, 0);
    const accepted = request(url, { tls: { ca: authorityCertificate('first') } });
    assert.equal((await transport().send(accepted, signal)).status, 200);
    const skipped = request(url, { tls: { insecureSkipVerify: true } });
    assert.equal((await transport().send(skipped, signal)).status, 200);
  });
});
