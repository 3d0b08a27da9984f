import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { createSystemClock } from '../util/clock.ts';
import { createSystemRandom } from '../util/random.ts';
import { startSandboxCluster } from './sandbox-cluster.ts';

describe('dev/sandbox-cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-'));
  after(() => rmSync(folder, { recursive: true }));

  const start = (persistPath?: string, port?: number) =>
    startSandboxCluster({
      ...{ clock: createSystemClock(), random: createSystemRandom() },
      ...(persistPath !== undefined && { persistPath }),
      ...(port !== undefined && { port }),
      onFailure: (error) => assert.fail(String(error)),
      onSaveStateChange: () => {},
    });

  /** The address of a cluster that starts, responds and stops. */
  async function urlOf(...args: Parameters<typeof start>): Promise<URL> {
    const cluster = await start(...args);
    assert.equal((await fetch(`${cluster.url}/version`)).status, 200);
    assert.equal(await cluster.stop(), undefined);
    return new URL(cluster.url);
  }

  test('a kept cluster has the address of its last run, in a file that only its owner can read', async () => {
    const file = join(folder, 'same.json');
    const first = await urlOf(file);
    assert.match(readFileSync(file, 'utf8'), new RegExp(`"path":"${first.pathname}"`));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal((await urlOf(file)).href, first.href);
  });

  test('a kept cluster with another port has the path of its last run', async () => {
    const file = join(folder, 'port.json');
    const first = await urlOf(file);
    const { port } = await urlOf(undefined);
    const second = await urlOf(file, Number(port));
    assert.deepEqual([second.port, second.pathname], [port, first.pathname]);
  });

  test('a kept cluster has another path if other users can read the file', async () => {
    const file = join(folder, 'readable.json');
    const first = await urlOf(file);
    chmodSync(file, 0o644);
    const second = await urlOf(file);
    assert.notEqual(second.pathname, first.pathname);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  test('a kept cluster has another path if another program has its port, which may know the path', async (t) => {
    const file = join(folder, 'taken.json');
    const first = await urlOf(file);
    const other = createServer().listen(Number(first.port), '127.0.0.1');
    t.after(() => other.close());
    const second = await urlOf(file);
    assert.notEqual(second.port, first.port);
    assert.notEqual(second.pathname, first.pathname);
    assert.equal((await urlOf(file)).href, second.href);
  });

  test('a cluster that is not kept has another path each time', async () => {
    assert.notEqual((await urlOf()).pathname, (await urlOf()).pathname);
  });
});
