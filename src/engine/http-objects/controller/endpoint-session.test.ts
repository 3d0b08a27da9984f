import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HttpTransportError, type TransportAnswer, type TransportRequest } from '#kube/roles.ts';
import { encodeBase64 } from '#util/base64.ts';
import { ByteSemaphore } from '#util/byte-semaphore.ts';
import type { JsonObject } from '#util/json.ts';
import { MemoryCluster } from '../../../../test/support/http-objects/memory-cluster.ts';
import {
  jsonAnswer,
  RecordingTransport,
} from '../../../../test/support/http-objects/recording-transport.ts';
import { endpointObject } from '../../../../test/support/http-objects/test-objects.ts';
import { type TestPorts, testPorts } from '../../../../test/support/http-objects/test-ports.ts';
import { decodeEndpoint } from '../spec/endpoint-spec.ts';
import { EndpointSession } from './endpoint-session.ts';
import { Places, RequestLimits } from './request-limits.ts';

const { signal } = new AbortController();
const from = (key: string) => ({ secretKeyRef: { name: 'api', key } });
const secrets: JsonObject = { user: 'anna', password: 'pässword', token: 't0ken\n', other: 'a\nb' };

function clusterWithSecret(): MemoryCluster {
  const cluster = new MemoryCluster();
  const entries = Object.entries(secrets).map(([key, value]) => [key, encodeBase64(String(value))]);
  cluster.put({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'api', namespace: 'shop' } },
    data: Object.fromEntries(entries),
  });
  return cluster;
}

async function open(
  spec: JsonObject,
  answers: (request: TransportRequest, count: number) => object | Error,
  more: Partial<TestPorts> = {},
) {
  let count = 0;
  const transport = new RecordingTransport((request) => answers(request, count++));
  const ports = testPorts(transport, clusterWithSecret(), more);
  const object = endpointObject(spec, { uid: 'e-1' });
  const decoded = decodeEndpoint(object, ports.parser).spec;
  assert.ok(decoded);
  const { clock } = ports;
  const limits = new RequestLimits({
    ...{ clock, requestsPerSecond: decoded.requestsPerSecond, concurrent: decoded.concurrent },
    origin: new Places(20),
  });
  const session = await EndpointSession.open({ object, spec: decoded, ports, limits }, signal);
  return { session, transport, ports };
}

async function send(
  spec: JsonObject,
  answers: (request: TransportRequest, count: number) => object | Error,
  request: { readonly method?: 'GET' | 'POST' | 'PUT'; readonly path?: string } = {},
) {
  const opened = await open(spec, answers);
  assert.ok(opened.session instanceof EndpointSession);
  const sent = { method: 'GET', path: '/x', ...request } as const;
  const answer = await opened.session.send(sent, asIs, signal);
  return { ...opened, session: opened.session, answer };
}

const ok = () => ({ status: 200 });
const asIs = async (answer: TransportAnswer) => answer;

describe('http-objects/controller sessions', () => {
  for (const [auth, header, value] of [
    [
      { basic: { usernameFrom: from('user'), passwordFrom: from('password') } },
      'authorization',
      `Basic ${encodeBase64('anna:pässword')}`,
    ],
    [{ bearer: { tokenFrom: from('token') } }, 'authorization', 'Bearer t0ken'],
    [{ header: { name: 'X-Api-Key', valueFrom: from('token') } }, 'x-api-key', 't0ken'],
  ] as const)
    test(`${Object.keys(auth)[0]} sends ${header}`, async () => {
      const { transport } = await send({ auth }, ok);
      assert.equal(transport.requests[0]?.headers[header], value);
    });

  test('a value with two lines is no header', async () => {
    await assert.rejects(send({ auth: { bearer: { tokenFrom: from('other') } } }, ok), {
      message: 'Expected a value that can be a header in key "other" of Secret "api"',
      mayHaveArrived: false,
    });
  });

  test('missing credentials open no session', async () => {
    const { session } = await open({ auth: { bearer: { tokenFrom: from('none') } } }, ok);
    assert.deepEqual(session, {
      reason: 'ValueMissing',
      message: 'Expected key "none" of Secret "api", found none',
      isGone: true,
    });
  });

  test('what the rules of the endpoint do not allow is not sent', async () => {
    const allow = [{ methods: ['GET'], paths: ['/x'] }];
    for (const request of [
      { method: 'POST' },
      { path: '/y' },
      { path: '/x/../y' },
      { path: '/%2e%2e/y' },
    ] as const)
      await assert.rejects(send({ allow }, ok, request), {
        code: 'address-not-allowed',
        mayHaveArrived: false,
      });
  });

  for (const [location, expected] of [
    ['/v1/y?a=b', ['http://api.shop.svc/v1/x', 'http://api.shop.svc/v1/y?a=b']],
    ['y', ['http://api.shop.svc/v1/x', 'http://api.shop.svc/v1/y']],
    ['http://api.shop.svc/v1/y', ['http://api.shop.svc/v1/x', 'http://api.shop.svc/v1/y']],
    ['/y', ['http://api.shop.svc/v1/x']],
    ['/v1/../y', ['http://api.shop.svc/v1/x']],
    ['http://other.shop.svc/v1/y', ['http://api.shop.svc/v1/x']],
    ['https://api.shop.svc/v1/y', ['http://api.shop.svc/v1/x']],
    ['//169.254.169.254/v1/y', ['http://api.shop.svc/v1/x']],
    ['http://a:b@api.shop.svc/v1/y', ['http://api.shop.svc/v1/x']],
    ['file:///etc/passwd', ['http://api.shop.svc/v1/x']],
  ] as const)
    test(`a redirect to ${location} leads to ${expected.length} requests`, async () => {
      const answers = (_: TransportRequest, count: number) =>
        count === 0 ? { status: 302, headers: { location } } : { status: 200 };
      const { transport } = await send({}, answers);
      assert.deepEqual(
        transport.requests.map(({ url }) => url),
        expected,
      );
    });

  test('a redirect of a request that writes is not followed', async () => {
    const answers = () => ({ status: 307, headers: { location: '/v1/y' } });
    const { transport, answer } = await send({}, answers, { method: 'PUT' });
    assert.deepEqual([transport.requests.length, answer.status], [1, 307]);
  });

  test('redirects end', async () => {
    const { transport } = await send({}, () => ({ status: 302, headers: { location: '/v1/x' } }));
    assert.equal(transport.requests.length, 4);
  });

  test('a redirect obeys the rules of the endpoint', async () => {
    const allow = [{ methods: ['GET'], paths: ['/x'] }];
    const answers = () => ({ status: 302, headers: { location: '/v1/admin' } });
    await assert.rejects(send({ allow }, answers), { code: 'address-not-allowed' });
  });

  test('requests that write ask the fence, when they are connected', async () => {
    let asked = 0;
    const beforeWrite = () => {
      asked += 1;
      throw new Error('Not the leader');
    };
    const { session, transport } = await open({}, ok, { beforeWrite });
    assert.ok(session instanceof EndpointSession);
    await session.send({ method: 'GET', path: '/x' }, asIs, signal);
    await assert.rejects(session.send({ method: 'DELETE', path: '/x' }, asIs, signal));
    assert.deepEqual([asked, transport.requests.length], [1, 1]);
  });

  test('large answers take memory of the shared pool until they are read, and others take none', async () => {
    const memory = new ByteSemaphore(1);
    const { session, ports } = await open({}, ok, { memory });
    assert.ok(session instanceof EndpointSession);
    const get = (path: string, expected: number) =>
      session.send(
        { method: 'GET', path },
        async () => assert.equal(memory.acquired, expected),
        signal,
      );
    await get('/small', 0);
    const { transport } = ports;
    Object.assign(transport, {
      async send({ onLargeAnswer }: TransportRequest) {
        await onLargeAnswer?.();
        return { status: 200, headers: {}, body: '' };
      },
    });
    await Promise.all([get('/a', 4 * 1024 * 1024), get('/b', 4 * 1024 * 1024)]);
    assert.equal(memory.acquired, 0);
  });

  test('a request that times out while it waits for memory gives none back', async () => {
    const memory = new ByteSemaphore(10);
    memory.acquire(7);
    const { session, ports } = await open({}, ok, { memory });
    assert.ok(session instanceof EndpointSession);
    let waited: Promise<unknown> | undefined;
    Object.assign(ports.transport, {
      async send({ onLargeAnswer }: TransportRequest) {
        waited = onLargeAnswer?.();
        throw new HttpTransportError('timeout', 'late', { mayHaveArrived: true });
      },
    });
    const sent = session.send({ method: 'GET', path: '/x' }, asIs, signal);
    await assert.rejects(sent, { code: 'timeout', message: 'No whole answer within 10000 ms' });
    assert.equal(memory.acquired, 7);
    await assert.rejects(waited ?? Promise.resolve());
    memory.release(7);
    assert.equal(memory.acquired, 0);
  });

  test('memory that is granted as a request ends is given back', async () => {
    const memory = new ByteSemaphore(10);
    memory.acquire(7);
    const { session, ports } = await open({}, ok, { memory });
    assert.ok(session instanceof EndpointSession);
    Object.assign(ports.transport, {
      async send({ onLargeAnswer }: TransportRequest) {
        void onLargeAnswer?.();
        memory.release(7);
        throw new HttpTransportError('timeout', 'late', { mayHaveArrived: true });
      },
    });
    await assert.rejects(session.send({ method: 'GET', path: '/x' }, asIs, signal));
    await ports.clock.advance(0);
    assert.equal(memory.acquired, 0);
  });

  test('credentials are removed from texts, in every form', async () => {
    const auth = { basic: { usernameFrom: from('user'), passwordFrom: from('password') } };
    const { session } = await send({ auth }, ok);
    assert.equal(
      session.mask(`"pässword" of anna, ${encodeURIComponent('pässword')}`),
      '"…" of …, …',
    );
  });
});

describe('http-objects/controller tokens', () => {
  const oauth2 = {
    auth: {
      oauth2: {
        tokenUrl: 'https://idp.shop.svc/token',
        clientIdFrom: from('user'),
        clientSecretFrom: from('password'),
        scopes: ['a', 'b'],
      },
    },
  };
  const issue = (request: TransportRequest, count: number) =>
    request.url.endsWith('/token')
      ? jsonAnswer({ access_token: `secret-${count}`, expires_in: 100 })
      : ok();

  test('one is fetched once for concurrent requests, and renewed at 80 % of its lifetime', async () => {
    const { session, transport, ports } = await open(oauth2, issue);
    assert.ok(session instanceof EndpointSession);
    const get = () => session.send({ method: 'GET', path: '/x' }, asIs, signal);
    await Promise.all([get(), get(), get()]);
    await ports.clock.advance(79_999);
    await get();
    const tokens = () => transport.requests.filter(({ url }) => url.endsWith('/token'));
    assert.equal(tokens().length, 1);
    await ports.clock.advance(1);
    await get();
    assert.equal(tokens().length, 2);
    assert.equal(
      tokens()[0]?.body,
      'grant_type=client_credentials&client_id=anna&client_secret=p%C3%A4ssword&scope=a+b',
    );
    assert.equal(session.mask('secret-0 secret-5'), 'secret-0 …');
  });

  test('a rejected one is renewed once, and not again for a lack of rights', async () => {
    let tokens = 0;
    const { session, transport, ports } = await open(oauth2, (request) => {
      if (!request.url.endsWith('/token')) return { status: 401 };
      tokens += 1;
      return jsonAnswer({ access_token: `secret-${tokens}`, expires_in: 100 });
    });
    assert.ok(session instanceof EndpointSession);
    await session.send({ method: 'GET', path: '/x' }, asIs, signal);
    await ports.clock.advance(20_000);
    const answer = await session.send({ method: 'GET', path: '/x' }, asIs, signal);
    await session.send({ method: 'GET', path: '/x' }, asIs, signal);
    assert.deepEqual([answer.status, tokens], [401, 2]);
    assert.equal(transport.requests.filter(({ url }) => !url.endsWith('/token')).length, 4);
  });

  test('a redirect of the request for a token is not followed', async () => {
    const answers = () => ({ status: 302, headers: { location: 'https://other.shop.svc/token' } });
    await assert.rejects(send(oauth2, answers), {
      code: 'token-rejected',
      message: 'The request for a token (POST /token) was answered with 302',
    });
  });

  test('a rejected request for a token names the Secrets, and no values', async () => {
    await assert.rejects(
      send(oauth2, () => ({ status: 401 })),
      {
        message:
          'The request for a token (POST /token) was answered with 401 (sent with key "user" of Secret "api" and key "password" of Secret "api")',
      },
    );
  });

  test('a failure is remembered for a while, and the API is not asked', async () => {
    const { session, transport, ports } = await open(oauth2, () => ({ status: 500 }));
    assert.ok(session instanceof EndpointSession);
    const get = () => session.send({ method: 'GET', path: '/x' }, asIs, signal);
    await assert.rejects(get());
    await assert.rejects(get());
    assert.equal(transport.requests.length, 1);
    await ports.clock.advance(5_000);
    await assert.rejects(get());
    assert.equal(transport.requests.length, 2);
  });

  test('a login sends the token of its service account, and uses the answer', async () => {
    const login = {
      path: '/login',
      body: { role: 'shop' },
      jwtField: 'jwt',
      serviceAccount: { name: 'shop', audience: 'vault' },
      token: '$(body.auth.client_token)',
      lifetimeSeconds: '$(body.auth.lease_duration)',
      header: 'X-Vault-Token',
    };
    const { transport } = await send({ auth: { login } }, ({ url }) =>
      url.endsWith('/login')
        ? jsonAnswer({ auth: { client_token: 'v4ult', lease_duration: 60 } })
        : ok(),
    );
    const [first, second] = transport.requests;
    assert.deepEqual(
      [first?.url, first?.body],
      ['http://api.shop.svc/v1/login', '{"role":"shop","jwt":"jwt-1"}'],
    );
    assert.equal(second?.headers['x-vault-token'], 'v4ult');
  });
});

/** A transport whose requests take their time, or all that they have. */
function slowTransport(ports: TestPorts, tookMs: (url: string) => number) {
  const { transport, clock } = ports;
  const send = transport.send.bind(transport);
  const timeouts: number[] = [];
  Object.assign(transport, {
    async send(request: TransportRequest, stop: AbortSignal) {
      timeouts.push(request.timeoutMs);
      const ms = tookMs(request.url);
      await clock.sleep(Math.min(ms, request.timeoutMs), stop);
      if (ms > request.timeoutMs)
        throw new HttpTransportError('timeout', `${request.timeoutMs}`, { mayHaveArrived: true });
      return send(request, stop);
    },
  });
  return timeouts;
}

describe('http-objects/controller deadlines', () => {
  const oauth2 = {
    timeout: '10s',
    auth: {
      oauth2: {
        tokenUrl: 'https://idp.shop.svc/token',
        clientIdFrom: from('user'),
        clientSecretFrom: from('password'),
      },
    },
  };
  const late = { code: 'timeout', message: 'No whole answer within 10000 ms' };

  test('redirects share the time-out of the endpoint', async () => {
    const { session, ports } = await open({ timeout: '10s' }, () => ({
      ...{ status: 302, headers: { location: '/v1/x' } },
    }));
    assert.ok(session instanceof EndpointSession);
    const timeouts = slowTransport(ports, () => 4_000);
    const sent = assert.rejects(session.send({ method: 'GET', path: '/x' }, asIs, signal), {
      ...late,
      mayHaveArrived: true,
    });
    await ports.clock.advance(10_000);
    await sent;
    assert.deepEqual(timeouts, [10_000, 6_000, 2_000]);
  });

  test('a token, a request, its renewal after a 401 and the second request share it', async () => {
    const { session, ports } = await open(oauth2, ({ url }, count) =>
      url.endsWith('/token')
        ? jsonAnswer({ access_token: `s-${count}`, expires_in: 1_000 })
        : { status: 401 },
    );
    assert.ok(session instanceof EndpointSession);
    const before = session.send({ method: 'GET', path: '/x' }, asIs, signal);
    await ports.clock.advance(0);
    await before;
    await ports.clock.advance(20_000);
    const timeouts = slowTransport(ports, () => 4_000);
    const sent = assert.rejects(session.send({ method: 'POST', path: '/x' }, asIs, signal), {
      ...late,
      mayHaveArrived: true,
    });
    await ports.clock.advance(10_000);
    await sent;
    // The token is also for others: its time begins with it.
    assert.deepEqual(timeouts, [10_000, 10_000, 2_000]);
  });

  test('a request whose token does not come in time is not sent', async () => {
    const { session, ports, transport } = await open(oauth2, ok);
    assert.ok(session instanceof EndpointSession);
    slowTransport(ports, () => 60_000);
    const sent = assert.rejects(session.send({ method: 'POST', path: '/x' }, asIs, signal), {
      ...{ ...late, mayHaveArrived: false },
    });
    await ports.clock.advance(10_000);
    await sent;
    assert.equal(transport.requests.length, 0);
    assert.equal(ports.clock.pending, 0);
  });

  test('the wait for its turn does not count', async () => {
    const { session, ports } = await open(
      { timeout: '10s', limits: { concurrent: 1, requestsPerSecond: 10 } },
      ok,
    );
    assert.ok(session instanceof EndpointSession);
    const timeouts = slowTransport(ports, () => 8_000);
    const get = () => session.send({ method: 'GET', path: '/x' }, asIs, signal);
    const both = Promise.all([get(), get()]);
    await ports.clock.advance(16_000);
    await both;
    assert.deepEqual(timeouts, [10_000, 10_000]);
  });
});

describe('http-objects/controller limits', () => {
  test('the requests per second and the concurrent ones are limited', async () => {
    const { session, transport, ports } = await open(
      { limits: { requestsPerSecond: 2, concurrent: 1 } },
      ok,
    );
    assert.ok(session instanceof EndpointSession);
    const all = Promise.all(
      [1, 2, 3, 4].map(() => session.send({ method: 'GET', path: '/x' }, asIs, signal)),
    );
    await ports.clock.advance(0);
    assert.equal(transport.requests.length, 2);
    await ports.clock.advance(500);
    assert.equal(transport.requests.length, 3);
    await ports.clock.advance(500);
    await all;
  });

  test('places are given in order, and back when a request is aborted', async () => {
    const places = new Places(1);
    const release = await places.acquire(signal);
    const aborted = new AbortController();
    const waiting = places.acquire(aborted.signal);
    const next = places.acquire(signal);
    aborted.abort(new Error('stop'));
    await assert.rejects(waiting, /stop/);
    release();
    release();
    (await next)();
    (await places.acquire(signal))();
  });
});
