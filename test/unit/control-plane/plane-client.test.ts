import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, test } from 'node:test';
import { PlaneClient } from '../../support/control-plane/plane-client.ts';
import { ReadinessProbe } from '../../support/control-plane/readiness-probe.ts';
import { planLayout } from '../../support/control-plane/server-arguments.ts';
import { type Script, ScriptedServer } from '../../support/scripted-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'plane-client-'));

function pem(name: string): string {
  return readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), 'utf8');
}

const caCertificate = pem('first-ca.crt');
const pods = { name: 'pods', kind: 'Pod', namespaced: true };

describe('test/control-plane/plane-client', () => {
  after(() => rmSync(folder, { recursive: true }));

  const ends: (() => Promise<void> | void)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function serve(script: Script): Promise<ScriptedServer> {
    const tls = { cert: pem('first-server.crt'), key: pem('first-server.key') };
    const server = await ScriptedServer.start(script, tls);
    ends.push(() => server.stop());
    return server;
  }

  async function clientOf(script: Script) {
    const server = await serve(script);
    const client = new PlaneClient({ server: server.url, token: 't', caCertificate });
    ends.push(() => client.close());
    return { server, client };
  }

  test('sends again what the server has no time for', async () => {
    const { server, client } = await clientOf(() =>
      server.requests.length < 3
        ? { status: 429, headers: { 'retry-after': '0' } }
        : { status: 200, body: {} },
    );
    assert.equal((await client.request({ method: 'GET', path: '/a' })).status, 200);
    assert.equal(server.requests.length, 3);
  });

  test('sends again what met a kept connection that the server had closed', async () => {
    const { server, client } = await clientOf(({ message }) => {
      if (server.requests.length !== 2) return { status: 200, body: {} };
      message.socket.destroy();
      return undefined;
    });
    for (let index = 0; index < 2; index++)
      assert.equal((await client.request({ method: 'GET', path: '/a' })).status, 200);
    assert.equal(server.connectionCount, 2);
  });

  test('fails when a connection of its own is cut', async () => {
    const { server, client } = await clientOf(({ message }) => {
      message.socket.destroy();
      return undefined;
    });
    await assert.rejects(client.request({ method: 'GET', path: '/a' }), { code: 'ECONNRESET' });
    assert.equal(server.requests.length, 1);
  });

  test('waits until a kind is discovered', async () => {
    const { server, client } = await clientOf(() => {
      const { length } = server.requests;
      if (length === 1) return { status: 404, body: {} };
      return { status: 200, body: { resources: length === 2 ? [] : [pods] } };
    });
    const metadata = { name: 'a', namespace: 'ns' };
    const path = await client.pathOf({ apiVersion: 'v1', kind: 'Pod', metadata });
    assert.equal(path, '/api/v1/namespaces/ns/pods/a');
    assert.equal(server.requests.length, 3);
  });

  test('a server is ready when it says so, whatever was in the certificate file before', async () => {
    let readyz = 500;
    const server = await serve(({ path }) => ({
      status: path.startsWith('/readyz') ? readyz : 200,
      body: '[-]etcd failed',
    }));
    const port = Number(new URL(server.url).port);
    const layout = planLayout({ folder, ports: [1, 2, port], hasAudit: false });
    const certificateFile = join(folder, 'apiserver.crt');
    const probe = new ReadinessProbe({ ...layout, certificateFile }, 't');
    ends.push(() => probe.close());
    assert.match((await probe.reasonToWait()) ?? '', /ENOENT/);
    for (const early of ['', caCertificate.slice(0, 100)]) {
      writeFileSync(certificateFile, early);
      assert.notEqual(await probe.reasonToWait(), undefined);
    }
    writeFileSync(certificateFile, caCertificate);
    assert.match((await probe.reasonToWait()) ?? '', /500 \[-\]etcd failed/);
    readyz = 200;
    assert.equal(await probe.reasonToWait(), undefined);
  });
});
