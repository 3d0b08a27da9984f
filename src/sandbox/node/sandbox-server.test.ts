import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestSandbox } from '../../../test/support/backends/index.ts';
import { type SandboxServer, startSandboxServer } from './sandbox-server.ts';

describe('sandbox/node/sandbox-server', () => {
  let server: SandboxServer;
  before(async () => {
    const sandbox = createTestSandbox();
    server = await startSandboxServer({ sandbox, basePath: '/secret', maxBodyBytes: 1000 });
  });
  after(() => server.stop());

  test('serves below its base path on loopback only', async () => {
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/secret$/);
    const answer = await fetch(`${server.url}/api/v1/namespaces/default`);
    assert.equal(answer.status, 200);
    assert.equal(((await answer.json()) as { kind: string }).kind, 'Namespace');
  });

  test('knows nothing for those who do not know the base path', async () => {
    const root = server.url.replace('/secret', '');
    for (const path of ['/api', '/secre/api', '/secretapi', '/']) {
      assert.equal((await fetch(root + path)).status, 404);
    }
  });

  test('refuses web pages', async () => {
    const headers = { origin: 'https://example.com' };
    assert.equal((await fetch(`${server.url}/api`, { headers })).status, 403);
  });

  test('refuses bodies that are too large', async () => {
    const url = `${server.url}/api/v1/namespaces`;
    const answer = await fetch(url, { method: 'POST', body: 'x'.repeat(2000) });
    assert.equal(answer.status, 413);
    const { reason, message } = (await answer.json()) as Record<string, string>;
    assert.deepEqual(
      [reason, message],
      ['RequestEntityTooLarge', 'Request entity too large: limit is 1000'],
    );
  });

  test('streams a watch, and stops with one open', async () => {
    const answer = await fetch(`${server.url}/api/v1/namespaces?watch=1`);
    const reader = answer.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    assert.match(new TextDecoder().decode(value), /"type":"ADDED"/);
    await reader?.cancel();
  });
});
