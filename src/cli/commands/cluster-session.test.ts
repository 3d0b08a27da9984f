import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CliError } from '../exit-code.ts';
import { withCluster } from './cluster-session.ts';

/** An address that refuses connections: its server has just closed. */
async function closedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('Expected a port');
  return `http://127.0.0.1:${address.port}`;
}

test('an unreachable server of a named kubeconfig is named', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'homeostat-session-'));
  t.after(() => rm(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  const server = await closedAddress();
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'a',
    clusters: [{ name: 'a', cluster: { server } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    users: [{ name: 'a', user: { token: 'x' } }],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const output = { print: () => {}, error: () => {} } as never;
  const context = { flags: { kubeconfig }, output, signal: t.signal };
  await assert.rejects(
    withCluster(context, () => Promise.reject(new Error('Connected'))),
    (error) => {
      assert.ok(error instanceof CliError);
      assert.equal(error.message, 'The API server is unreachable (ECONNREFUSED)');
      assert.equal(error.hint, `The kubeconfig names the server ${server}`);
      return true;
    },
  );
});
