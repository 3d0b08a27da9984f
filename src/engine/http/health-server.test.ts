import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import type { DefinitionView, RuntimeView } from '#runtime';
import { createMetricRegistry } from '#telemetry';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { startHealthServer } from './health-server.ts';

function viewOf(...states: DefinitionView['state'][]): RuntimeView {
  return {
    unreachable: undefined,
    isStopping: false,
    rejected: [],
    warnings: [],
    definitions: states.map((state, index) => ({
      name: `d${index}`,
      revision: '0123456789',
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      state,
      instances: 0,
      orphaned: 0,
      queued: 0,
      problems: [],
    })),
  };
}

const starting = { kind: 'starting', message: 'Its CRD is being installed' } as const;

async function withServer(
  view: RuntimeView,
  use: (url: string) => Promise<void>,
  failure: () => string | undefined = () => undefined,
  host = '127.0.0.1',
) {
  const metrics = createMetricRegistry();
  const scrapes = metrics.counter({ name: 'scrapes_total', help: 'Scrapes' });
  const server = await startHealthServer({
    host,
    port: 0,
    clock: new FakeClock(),
    metrics,
    view: () => view,
    failure,
    observe: () => scrapes.increment(),
  });
  try {
    await use(server.url);
  } finally {
    await server.close();
  }
}

/** The status of a response to a request with this `Host`. */
async function statusFor(url: string, path: string, host: string): Promise<string> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return (await text(socket)).split(' ')[1] ?? '';
}

describe('http/health-server', () => {
  test('on a loopback address, a name that a web page may have chosen is rejected', async () => {
    await withServer(viewOf(), async (url) => {
      for (const path of ['/metrics', '/healthz', '/readyz', '/records?name=a', '/nothing']) {
        assert.equal(await statusFor(url, path, 'attacker.example:8080'), '403', path);
        assert.equal(await statusFor(url, path, ''), '403', path);
      }
      for (const host of ['localhost:9999', '127.0.0.1', '[::1]:80', '10.2.3.4:8080'])
        assert.equal(await statusFor(url, '/healthz', host), '200', host);
    });
  });

  test('elsewhere, requests by the name of a Service are served', async () => {
    const use = async (url: string) => {
      const own = url.replace('0.0.0.0', '127.0.0.1');
      assert.equal(await statusFor(own, '/metrics', 'homeostat.default.svc:8080'), '200');
      assert.equal(await statusFor(own, '/readyz', '10.2.3.4:8080'), '200');
    };
    await withServer(viewOf(), use, undefined, '0.0.0.0');
  });

  test('is healthy, and not ready while definitions start or list', async () => {
    await withServer(viewOf({ kind: 'running' }, starting, { kind: 'syncing' }), async (url) => {
      const health = await fetch(`${url}/healthz`);
      assert.deepEqual([health.status, await health.text()], [200, 'ok\n']);
      const response = await fetch(`${url}/readyz`);
      assert.equal(response.status, 503);
      const lines = [
        '[+]api-server ok',
        '[-]definitions failed: starting: d1 (Its CRD is being installed)',
        '[-]informers failed: syncing: d2',
        '[+]shutdown ok',
        '  [+]d0 running',
        '  [-]d1 starting: Its CRD is being installed',
        '  [-]d2 syncing',
        'readyz check failed',
      ];
      assert.equal(await response.text(), `${lines.join('\n')}\n`);
    });
  });

  test('is not healthy with a lead that is lost', async () => {
    const check = async (url: string) => {
      const health = await fetch(`${url}/healthz`);
      assert.equal(health.status, 503);
      assert.equal(
        await health.text(),
        '[+]ping ok\n[-]leader-election failed: lost\nhealthz check failed\n',
      );
    };
    await withServer(viewOf({ kind: 'running' }), check, () => 'lost');
  });

  test('is ready when definitions are rejected or fail, and says why they do', async () => {
    const rejected = { kind: 'rejected', message: 'no', diagnostics: [] } as const;
    const failing = { kind: 'failing', message: 'forbidden' } as const;
    await withServer(viewOf({ kind: 'running' }, rejected, failing), async (url) => {
      const brief = await fetch(`${url}/readyz`);
      assert.deepEqual([brief.status, await brief.text()], [200, 'ok\n']);
      const verbose = await (await fetch(`${url}/readyz?verbose`)).text();
      assert.match(verbose, /^ {2}\[!\]d1 rejected: no\n {2}\[!\]d2 failing: forbidden$/m);
      assert.match(verbose, /^readyz check passed$/m);
    });
  });

  test('what stands in the way of a definition is reported line by line', async () => {
    const running = viewOf({ kind: 'running' });
    const [definition] = running.definitions;
    assert.ok(definition);
    const problems = ['children (v1/Secret): forbidden', 'reads.pods: no such kind'];
    const rejected = {
      kind: 'rejected',
      message: 'other schemas',
      diagnostics: ['a:1:1: x'],
    } as const;
    const view = {
      ...running,
      definitions: [{ ...definition, problems }, ...viewOf(rejected).definitions],
      rejected: [
        { file: 'bad.yaml', definitions: 1, diagnostics: ['bad.yaml:3:4: Unknown field'] },
      ],
      warnings: ['Events cannot be written: forbidden'],
    };
    await withServer(view, async (url) => {
      const response = await fetch(`${url}/readyz?verbose`);
      assert.equal(response.status, 200);
      const lines = [
        '  [!]d0 running:',
        '       - children (v1/Secret): forbidden',
        '       - reads.pods: no such kind',
        '  [!]d0 rejected:',
        '       - other schemas',
        '       - a:1:1: x',
        '  [!]bad.yaml rejected: bad.yaml:3:4: Unknown field',
        '  [!]Events cannot be written: forbidden',
        'readyz check passed',
      ];
      assert.ok((await response.text()).endsWith(`\n${lines.join('\n')}\n`));
    });
  });

  test('a change that is on its way, rejected, held or stopped is reported, as is an end, and leaves it ready', async () => {
    const [definition] = viewOf({ kind: 'running' }).definitions;
    assert.ok(definition);
    const rollout = {
      from: 'aaaaaaaaaa',
      to: 'bbbbbbbbbb',
      reached: 3,
      total: 10,
      deletions: 0,
      failed: [],
      message: '3 of 10',
    };
    const cases: readonly (readonly [Partial<DefinitionView>, string])[] = [
      [
        { next: { revision: 'b', message: 'Asking' } },
        '[+]d0 running: revision b is starting: Asking',
      ],
      [{ rollout: { ...rollout, state: 'rolling' } }, '[+]d0 running: rollout rolling: 3 of 10'],
      [{ rollout: { ...rollout, state: 'held' } }, '[!]d0 running: rollout held: 3 of 10'],
      [{ rollout: { ...rollout, state: 'stopped' } }, '[!]d0 running: rollout stopped: 3 of 10'],
      [
        { rejection: { message: 'no', diagnostics: ['a.yaml:1:1: x'] } },
        '[!]d0 running:\n       - a newer manifest is rejected: no\n       - a.yaml:1:1: x',
      ],
      [{ isPaused: true }, '[!]d0 running: paused: its resources are not reconciled'],
      [{ state: { kind: 'finalizing', message: 'Why' } }, '[!]d0 finalizing: Why'],
      [{ state: { kind: 'uninstalling', message: 'Waits' } }, '[!]d0 uninstalling: Waits'],
    ];
    for (const [changes, line] of cases) {
      const view = { ...viewOf(), definitions: [{ ...definition, ...changes }] };
      await withServer(view, async (url) => {
        const response = await fetch(`${url}/readyz?verbose`);
        assert.equal(response.status, 200);
        assert.ok((await response.text()).endsWith(`\n  ${line}\nreadyz check passed\n`), line);
      });
    }
  });

  for (const [kind, forMs, failure] of [
    ['unreachable', 14_999, undefined],
    ['unreachable', 15_000, 'no response for 15 s'],
    ['unauthorized', 14_999, undefined],
    [
      'unauthorized',
      20_000,
      'credentials rejected for 20 s; renew the token or certificate of the kubeconfig or service account',
    ],
  ] as const) {
    test(`an API server that is ${kind} for ${forMs} ms makes it ${failure === undefined ? 'ready' : 'unready, and says why'}`, async () => {
      const view = { ...viewOf({ kind: 'running' }), unreachable: { kind, forMs } };
      await withServer(view, async (url) => {
        const response = await fetch(`${url}/readyz/api-server`);
        assert.equal(response.status, failure === undefined ? 200 : 503);
        const [first] = (await response.text()).split('\n');
        assert.equal(first, failure === undefined ? 'ok' : `[-]api-server failed: ${failure}`);
      });
    });
  }

  test('is not ready before every source of definitions has been read, and says why', async () => {
    const unread = ['ConfigMaps in ops (forbidden)', 'directory operators'];
    await withServer({ ...viewOf({ kind: 'running' }), unreadSources: unread }, async (url) => {
      const response = await fetch(`${url}/readyz/definitions`);
      assert.equal(response.status, 503);
      const [first] = (await response.text()).split('\n');
      assert.equal(first, `[-]definitions failed: not read yet: ${unread.join(', ')}`);
    });
  });

  test('a process that stops is not ready', async () => {
    await withServer({ ...viewOf({ kind: 'running' }), isStopping: true }, async (url) => {
      assert.equal((await fetch(`${url}/readyz`)).status, 503);
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
    });
  });

  test('checks can be asked for one by one and left out', async () => {
    const unreachable = { kind: 'unreachable', forMs: 60_000 } as const;
    const view = { ...viewOf(starting), unreachable };
    await withServer(view, async (url) => {
      const statusOf = async (path: string) => (await fetch(`${url}${path}`)).status;
      assert.equal(await statusOf('/readyz/informers'), 200);
      assert.equal(await statusOf('/readyz/definitions'), 503);
      assert.equal(await statusOf('/readyz/nothing'), 404);
      assert.equal(await statusOf('/readyz/%E0%A4%A'), 400);
      assert.equal(await statusOf('/readyz?exclude=api-server'), 503);
      assert.equal(await statusOf('/readyz?exclude=api-server&exclude=definitions'), 200);
      const verbose = await fetch(`${url}/readyz?verbose&exclude=api-server&exclude=typo`);
      const page = await verbose.text();
      assert.match(page, /^\[\+\]api-server excluded: no response for 60 s$/m);
      assert.match(page, /^warn: there is no check "typo" to exclude$/m);
    });
  });

  test('brings the gauges up to date before it shows the metrics', async () => {
    await withServer(viewOf(), async (url) => {
      const response = await fetch(`${url}/metrics`);
      assert.match(response.headers.get('content-type') ?? '', /^text\/plain/);
      assert.match(await response.text(), /^scrapes_total 1$/m);
    });
  });

  test('serves nothing else, reads only, and answers HEAD without a body', async () => {
    await withServer(viewOf(), async (url) => {
      const statusOf = async (path: string, method = 'GET') =>
        (await fetch(`${url}${path}`, { method })).status;
      for (const path of ['/', '/healthz/x', '/metrics/x', '/other', '//healthz'])
        assert.equal(await statusOf(path), 404, path);
      assert.equal(await statusOf('/metrics', 'POST'), 405);
      const head = await fetch(`${url}/healthz`, { method: 'HEAD' });
      assert.deepEqual([head.status, head.headers.get('content-length')], [200, '3']);
      assert.equal(await head.text(), '');
    });
  });

  test('reports metrics that cannot be rendered as an internal error', async () => {
    const broken = { contentType: 'text/plain', expose: () => Promise.reject(new Error('no')) };
    const server = await startHealthServer({
      host: '127.0.0.1',
      port: 0,
      clock: new FakeClock(),
      metrics: broken,
      view: () => viewOf(),
      observe: () => {},
    });
    const response = await fetch(`${server.url}/metrics`);
    assert.deepEqual([response.status, await response.text()], [500, 'internal error\n']);
    await server.close();
  });

  test('answers one request for each connection', async () => {
    await withServer(viewOf(), async (url) => {
      const client = connect(Number(new URL(url).port), '127.0.0.1');
      client.write('GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(3));
      const answers = await text(client);
      assert.equal(answers.match(/^HTTP\/1\.1 200 /gm)?.length, 1);
      assert.match(answers, /^connection: close\r$/im);
    });
  });

  test('says why it cannot have the address', async () => {
    await withServer(viewOf(), async (url) => {
      const port = Number(new URL(url).port);
      const metrics = createMetricRegistry();
      const options = {
        host: '127.0.0.1',
        port,
        clock: new FakeClock(),
        metrics,
        view: () => viewOf(),
        observe: () => {},
      };
      await assert.rejects(startHealthServer(options), { code: 'EADDRINUSE' });
    });
  });
});
