import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DefinitionState, RuntimeView } from '../runtime/index.ts';
import { createMetricRegistry } from '../telemetry/index.ts';
import { startHealthServer } from './health-server.ts';

function viewOf(...states: DefinitionState[]): RuntimeView {
  return {
    isReachable: true,
    isReady: states.every(({ kind }) => kind !== 'starting'),
    definitions: states.map((state, index) => ({
      name: `d${index}`,
      revision: '0123456789',
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      state,
      instances: 0,
      queued: 0,
      problems: [],
    })),
  };
}

async function withServer(view: RuntimeView, use: (url: string) => Promise<void>) {
  const metrics = createMetricRegistry();
  const scrapes = metrics.counter({ name: 'scrapes_total', help: 'Scrapes' });
  const server = await startHealthServer({
    host: '127.0.0.1',
    port: 0,
    metrics,
    view: () => view,
    observe: () => scrapes.increment(),
  });
  try {
    await use(server.url);
  } finally {
    await server.close();
  }
}

describe('http/health-server', () => {
  test('is healthy, and not ready while a definition starts', async () => {
    await withServer(viewOf({ kind: 'running' }, { kind: 'starting' }), async (url) => {
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
      const response = await fetch(`${url}/readyz?verbose`);
      assert.equal(response.status, 503);
      assert.equal(
        await response.text(),
        '[+]api-server\n[+]d0 running\n[-]d1 starting\nnot ready\n',
      );
    });
  });

  test('is ready when a definition is refused', async () => {
    const refused = { kind: 'refused', message: 'no', diagnostics: [] } as const;
    await withServer(viewOf({ kind: 'running' }, refused), async (url) => {
      const response = await fetch(`${url}/readyz?verbose`);
      assert.equal(response.status, 200);
      assert.equal(await response.text(), '[+]api-server\n[+]d0 running\n[!]d1 refused: no\nok\n');
    });
  });

  test('brings the gauges up to date before it shows the metrics', async () => {
    await withServer(viewOf(), async (url) => {
      const response = await fetch(`${url}/metrics`);
      assert.match(response.headers.get('content-type') ?? '', /^text\/plain/);
      assert.match(await response.text(), /^scrapes_total 1$/m);
    });
  });

  test('says why it cannot have the address', async () => {
    await withServer(viewOf(), async (url) => {
      const port = Number(new URL(url).port);
      const metrics = createMetricRegistry();
      const options = { host: '127.0.0.1', port, metrics, view: () => viewOf(), observe: () => {} };
      await assert.rejects(startHealthServer(options), { code: 'EADDRINUSE' });
    });
  });
});
