import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import {
  authorityCertificate,
  serverCertificate,
} from '../../../test/support/fault-proxy/index.ts';
import { type Script, ScriptedServer } from '../../../test/support/scripted-server.ts';
import { createSystemClock } from '../../util/clock.ts';
import type { TransportRequest } from './outbound-http.ts';
import { OutboundPolicy, type OutboundPolicyOptions } from './outbound-policy.ts';
import { UndiciTransport } from './undici-transport.ts';

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
    more: { readonly clock?: FakeClock; readonly lookup?: LookupFunction } = {},
  ): UndiciTransport {
    const created = new UndiciTransport({
      ...{ policy: new OutboundPolicy(policy), clock: createSystemClock() },
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
      ...{ code: 'unreachable', mayHaveArrived: false, message: 'No connection (ECONNREFUSED)' },
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
