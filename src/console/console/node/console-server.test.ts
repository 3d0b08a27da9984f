import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { createSystemClock } from '#util/clock.ts';
import { createSystemRandom } from '#util/random.ts';
import { BackendError, type ConsoleBackend, type WatchEvent } from '#web';
import { FetchBackend } from '#web/backend/fetch-backend.ts';
import { type ConsoleServer, startConsoleServer } from './console-server.ts';

const clock = createSystemClock();
const { signal } = new AbortController();
const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } };

/** Answers with its question, and fails where the path says so. */
function fakeBackend(): ConsoleBackend {
  const backend: Partial<ConsoleBackend> = {
    request: async ({ path }) => {
      if (path === '/forbidden') throw new BackendError('forbidden', 'Not permitted');
      return { status: 200, body: { path } };
    },
    async *watch({ path }): AsyncGenerator<WatchEvent, void, undefined> {
      if (path === '/forbidden') throw new BackendError('forbidden', 'Not permitted');
      yield { type: 'ADDED', object };
      if (path === '/broken') throw new Error('The watch broke');
    },
  };
  return backend as ConsoleBackend;
}

describe('console/node/console-server', () => {
  let server: ConsoleServer;
  before(async () => {
    server = await startConsoleServer({
      backend: fakeBackend(),
      clock,
      random: createSystemRandom(),
    });
  });
  after(() => server.close());

  /** A request with any headers: fetch sets some by itself. */
  const ask = async (
    path: string,
    method: string,
    headers: Readonly<Record<string, string>> = {},
    content = '{"method":"GET","path":"/api"}',
  ) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
    const sent = request(new URL(path, server.url), { method, headers }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    sent.on('error', reject).end(method === 'POST' ? content : undefined);
    return promise;
  };

  test('a request that would take too much memory, or is nested deep, is not parsed', async () => {
    const headers = { origin: new URL(server.url).origin };
    for (const [value, what] of [
      [`[${'{},'.repeat(1_000_000)}{}]`, 'too large'],
      ['['.repeat(2_000) + ']'.repeat(2_000), 'nested deeper than 1000 levels'],
    ] as const) {
      const content = `{"method":"GET","path":"/api","body":${value}}`;
      const { status, body } = await ask('api/request', 'POST', headers, content);
      assert.equal(status, 400);
      assert.ok(body.includes(`is ${what} and was not parsed`), body);
    }
  });

  test('serves the page on loopback below a path that cannot be guessed', async () => {
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/[a-z0-9]{32}\/$/);
    assert.match((await ask('', 'GET')).body, /<div id="console"><\/div>/);
    for (const path of ['/', '/other/', '/assets/x.js'])
      assert.equal((await ask(path, 'GET')).status, 404);
  });

  test('permits scripts and styles of this server only, and no page around it', async () => {
    const { headers } = await fetch(server.url);
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'self'", "frame-ancestors 'none'", "object-src 'none'"])
      assert.ok(policy.includes(part), policy);
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('cache-control'), 'no-store');
  });

  test('the page names its files, which have hashes in their names', async () => {
    const page = await (await fetch(server.url)).text();
    const names = [...page.matchAll(/(?:href|src)="(assets\/[^"]+)"/g)].map(
      ([, name = '']) => name,
    );
    // Styles, the script, and what the script imports at once.
    assert.ok(names.length >= 2, names.join(', '));
    for (const name of names) {
      const response = await fetch(new URL(name, server.url));
      assert.equal(response.status, 200, name);
      assert.match(response.headers.get('cache-control') ?? '', /immutable/);
    }
  });

  test('rejects pages of other origins and other host names', async () => {
    const { host, origin } = new URL(server.url);
    const statusOf = async (method: string, headers: Record<string, string>) =>
      (await ask(method === 'GET' ? '' : 'api/request', method, headers)).status;
    assert.equal(await statusOf('POST', { origin }), 200);
    assert.equal(await statusOf('POST', {}), 403);
    assert.equal(await statusOf('POST', { origin: 'https://example.com' }), 403);
    assert.equal(await statusOf('POST', { origin: 'null' }), 403);
    assert.equal(await statusOf('GET', { origin: 'https://example.com' }), 403);
    assert.equal(await statusOf('GET', { host: `example.com:${host.split(':')[1]}` }), 403);
    assert.equal(await statusOf('GET', { host: `localhost:${host.split(':')[1]}` }), 200);
    const { body } = await ask('', 'GET', { host: 'example.com' });
    assert.match(body, /The host \\"example\.com\\" is not permitted/);
  });

  test('a forwarded port is another one; the origin has it, too', async () => {
    const statusOf = async (host: string, origin?: string) => {
      const headers = { host, ...(origin !== undefined && { origin }) };
      return (await ask('api/request', 'POST', headers)).status;
    };
    for (const host of ['localhost:8080', '127.0.0.1', '[::1]:8080', 'host.docker.internal:1']) {
      assert.equal((await ask('', 'GET', { host })).status, 200, host);
      assert.equal(await statusOf(host, `http://${host}`), 200, host);
      assert.equal(await statusOf(host, `https://${host}`), 200, host);
      assert.equal(await statusOf(host), 403, host);
      for (const origin of [new URL(server.url).origin, `http://${host}0`, `a://${host}`, 'null'])
        assert.equal(await statusOf(host, origin), 403, `${host}, ${origin}`);
    }
    assert.equal(await statusOf('example.com', 'http://example.com'), 403);
  });

  test('rejects a body that is no JSON object, and unknown questions', async () => {
    const { origin } = new URL(server.url);
    const post = (question: string, body: string) =>
      fetch(`${server.url}api/${question}`, { method: 'POST', headers: { origin }, body });
    assert.equal((await post('request', 'no')).status, 400);
    assert.equal((await post('request', '3')).status, 400);
    assert.equal((await post('nothing', '{}')).status, 404);
  });

  const backend = () => {
    const { origin } = new URL(server.url);
    const send: typeof fetch = (url, init) =>
      fetch(url, { ...init, headers: { ...init?.headers, origin } });
    return new FetchBackend({ base: server.url, clock, fetch: send });
  };

  test('answers questions, and reports errors with their codes', async () => {
    const asked = backend().request({ method: 'GET', path: '/api' }, signal);
    assert.deepEqual(await asked, { status: 200, body: { path: '/api' } });
    await assert.rejects(backend().request({ method: 'GET', path: '/forbidden' }, signal), {
      code: 'forbidden',
      message: 'Not permitted',
    });
  });

  test('streams of a page share one connection, and end or fail one by one', async () => {
    const page = backend();
    const read = async (path: string) => {
      const types: string[] = [];
      for await (const { type } of page.watch({ path }, signal)) types.push(type);
      return types;
    };
    assert.deepEqual(await Promise.all([read('/a'), read('/b')]), [['ADDED'], ['ADDED']]);
    await assert.rejects(read('/forbidden'), { code: 'forbidden' });
    await assert.rejects(read('/broken'), { message: 'The watch broke' });
  });

  test('a stream without a server fails', async () => {
    const gone = await startConsoleServer({
      backend: fakeBackend(),
      clock,
      random: createSystemRandom(),
    });
    await gone.close();
    const page = new FetchBackend({ base: gone.url, clock });
    await assert.rejects(page.watch({ path: '/a' }, signal).next(), { code: 'unreachable' });
  });
});
