import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createTestSandbox } from '../../../test/support/backends/index.ts';
import { patienceMs } from '../../../test/support/patience.ts';
import {
  type SandboxServer,
  type SandboxServerOptions,
  startSandboxServer,
} from './sandbox-server.ts';

describe('sandbox/node/sandbox-server', () => {
  const sandbox = createTestSandbox();
  const start = (options: Partial<SandboxServerOptions>) =>
    startSandboxServer({ sandbox, basePath: '/secret', ...options });
  let server: SandboxServer;
  before(async () => {
    server = await start({ maxBodyBytes: 1000 });
  });
  after(async () => {
    await server.stop();
    sandbox.stop();
  });

  test('serves below its base path on loopback only', async () => {
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/secret$/);
    const answer = await fetch(`${server.url}/api/v1/namespaces/default`);
    assert.equal(answer.status, 200);
    assert.equal(((await answer.json()) as { kind: string }).kind, 'Namespace');
  });

  test('answers 404 without the base path', async () => {
    const root = server.url.replace('/secret', '');
    for (const path of ['/api', '/secre/api', '/secretapi', '/']) {
      assert.equal((await fetch(root + path)).status, 404);
    }
  });

  test('rejects web pages', async () => {
    const headers = { origin: 'https://example.com' };
    const answer = await fetch(`${server.url}/api`, { headers });
    assert.equal(answer.status, 403);
    const { kind, message } = (await answer.json()) as Record<string, string>;
    assert.equal(kind, 'Status');
    assert.match(message ?? '', /"Origin" is not permitted/);
  });

  /** A request as it is: fetch sets the host by itself, and normalizes addresses. */
  const answerOf = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const { hostname, port } = new URL(server.url);
    const sent = request({ hostname, port, path: `/secret${path}`, headers }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  };
  const statusOf = async (...asked: Parameters<typeof answerOf>) =>
    (await answerOf(...asked)).resume().statusCode;

  test('rejects other host names: one of a page may resolve to this host', async () => {
    const { port } = new URL(server.url);
    for (const host of [
      ...['127.0.0.1', '10.0.2.2', '[::1]', '[fd00::1]', 'localhost', 'LocalHost', 'localhost.'],
      ...['host.docker.internal', 'host.containers.internal'],
    ])
      assert.equal(await statusOf('/api', { host: `${host}:${port}` }), 200, host);
    for (const host of ['example.com', 'example.com.', '127.0.0.1.example.com', '', '[::1'])
      assert.equal(await statusOf('/api', { host: `${host}:${port}` }), 403, host);
    for (const host of [`a@localhost:${port}`, 'localhost:1:2', 'localhost:'])
      assert.equal(await statusOf('/api', { host }), 403, host);
    const body = await text(await answerOf('/api', { host: `api.example.com:${port}` }));
    const { kind, reason, code, message } = JSON.parse(body) as Record<string, unknown>;
    assert.deepEqual([kind, reason, code], ['Status', 'Forbidden', 403]);
    assert.match(
      String(message),
      /^The host "api\.example\.com:\d+" is not permitted: .*Use an IP/,
    );
    // A port that is forwarded.
    for (const host of ['127.0.0.1', 'localhost:1'])
      assert.equal(await statusOf('/api', { host }), 200, host);
  });

  for (const path of ['/%E0%A4%A', '/api/v1/namespaces/%E0%A4%A', '/api/v1/%', '/openapi/v3/%FF'])
    test(`a malformed address is an answer: ${path}`, async () => {
      const status = await statusOf(path);
      assert.ok(status === 400 || status === 404, String(status));
    });

  test('malformed parts of a query are an answer', async () => {
    for (const query of ['labelSelector=%E0%A4%A', '%E0%A4%A=1', 'limit=%', 'watch=%FF&limit=1'])
      assert.ok([200, 400].includes((await statusOf(`/api/v1/pods?${query}`)) ?? 0), query);
  });

  test('rejects bodies that are too large', async () => {
    const url = `${server.url}/api/v1/namespaces`;
    const answer = await fetch(url, { method: 'POST', body: 'x'.repeat(2000) });
    assert.equal(answer.status, 413);
    const { reason, message } = (await answer.json()) as Record<string, string>;
    assert.deepEqual(
      [reason, message],
      ['RequestEntityTooLarge', 'Request entity too large: limit is 1000'],
    );
  });

  test('rejects bodies that would take too much memory', async () => {
    const large = await start({});
    try {
      for (const type of ['application/json', 'application/yaml']) {
        const answer = await fetch(`${large.url}/api/v1/namespaces`, {
          method: 'POST',
          headers: { 'content-type': type },
          body: `{"a":[${'{},'.repeat(1_000_000)}{}]}`,
        });
        assert.equal(answer.status, 413);
        const { message } = (await answer.json()) as Record<string, string>;
        assert.equal(message, 'The body takes more memory than 67108864 bytes');
      }
    } finally {
      await large.stop();
    }
  });

  test('streams a watch, and stops with one open', async () => {
    const answer = await fetch(`${server.url}/api/v1/namespaces?watch=1`);
    const reader = answer.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    assert.match(new TextDecoder().decode(value), /"type":"ADDED"/);
    await reader?.cancel();
  });

  for (const [what, sent] of [
    ['nothing', ''],
    ['half a head', 'GET /secret/api HTTP/1.1\r\nhost: x\r\n'],
    [
      'half a body',
      'POST /secret/api/v1/namespaces HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{',
    ],
  ] as const) {
    test(`a client that sends ${what} and stalls is disconnected`, async () => {
      const impatient = await start({ requestTimeoutMs: 50 });
      const socket = open(impatient).resume();
      socket.write(sent);
      await once(socket, 'close');
      await impatient.stop();
    });
  }

  for (const [what, bodyOf] of [
    ['a watch', endless],
    ['a long answer', () => 'x'.repeat(64 * 1024 * 1024)],
  ] as const) {
    test(`a client that does not read ${what} is disconnected`, async () => {
      const handle = () => ({ status: 200, headers: {}, body: bodyOf() });
      const impatient = await start({ stallTimeoutMs: 50, sandbox: { ...sandbox, handle } });
      const socket = open(impatient).pause();
      socket.write('GET /secret/api HTTP/1.1\r\nhost: localhost\r\n\r\n');
      await untilCutOff(socket);
      await impatient.stop();
    });
  }
});

function open({ url }: SandboxServer): Socket {
  // The server closes the connection, which may surface as an error.
  return connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
}

async function* endless(): AsyncGenerator<string> {
  for (;;) yield 'x'.repeat(1024 * 1024);
}

/** A socket that reads nothing detects the closed connection only by writing. */
async function untilCutOff(socket: Socket): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!socket.destroyed) {
    assert.ok(performance.now() < deadline, 'It was not cut off');
    if (!socket.writableNeedDrain) socket.write('\r\n');
    await setImmediate();
  }
}
