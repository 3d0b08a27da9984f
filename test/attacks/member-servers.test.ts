import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type LookupFunction, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { type ClusterConfig, ServerPolicy } from '#kube';
import { createApiClient } from '#kube/client/create-api-client.ts';
import { KubeError } from '#kube/roles.ts';
import { createSystemClock } from '#util/clock.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';
import { configOf, firstState, stateOf } from './support/hostile-connection.ts';

const { signal } = new AbortController();
const flow = { name: 'test', priority: 'object' } as const;
const hint = /; an administrator can allow it with --cluster-servers$/;

const configFor = (server: string, proxyUrl?: string): ClusterConfig => ({
  server,
  namespace: 'default',
  credentials: { load: async () => ({ headers: {} }) },
  ...(proxyUrl !== undefined && { proxyUrl }),
});

/** Accepts connections, and calls back with each. */
async function listen(onSocket: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, port };
}

async function failureTo(config: ClusterConfig, servers = new ServerPolicy()) {
  const { state } = await stateOf(config, servers);
  assert.ok(state.kind !== 'connected');
  assert.ok(state.failure !== undefined);
  return state.failure;
}

describe('attacks/member servers', () => {
  for (const server of [
    'http://169.254.169.254',
    'https://169.254.169.254',
    'http://0xa9.0xfe.0xa9.0xfe',
    'http://2852039166',
    'http://[::ffff:169.254.169.254]',
    'http://[fe80::1]',
    'http://[fd00:ec2::254]',
    'http://metadata.google.internal',
    'http://METADATA.google.internal.',
  ])
    test(`a kubeconfig may not name ${server}`, async () => {
      const failure = await failureTo(configFor(server));
      assert.equal(failure.reason, 'ServerNotAllowed');
      assert.match(failure.message, hint);
    });

  test('a proxy may not have such an address, and may not be asked for one', async () => {
    let connections = 0;
    const { server, port } = await listen((socket) => {
      connections += 1;
      socket.destroy();
    });
    try {
      for (const [target, proxy] of [
        ['https://paris.example.com', 'http://169.254.169.254:3128'],
        ['https://169.254.169.254', `http://127.0.0.1:${port}`],
        ['http://metadata.google.internal', `http://127.0.0.1:${port}`],
      ] as const)
        assert.equal((await failureTo(configFor(target, proxy))).reason, 'ServerNotAllowed');
      const listed = new ServerPolicy({ allowed: ['127.0.0.1', '*.example.com'] });
      const hidden = configFor('https://internal.test', `http://127.0.0.1:${port}`);
      assert.equal((await failureTo(hidden, listed)).reason, 'ServerNotAllowed');
      assert.equal(connections, 0);
      const named = configFor('https://paris.example.com', `http://127.0.0.1:${port}`);
      assert.equal((await failureTo(named, listed)).reason, 'Unreachable');
      assert.ok(connections > 0);
    } finally {
      server.close();
    }
  });

  test('with a list, a server that is not in it is not connected to', async () => {
    let requests = 0;
    const { state } = await firstState(
      () => {
        requests += 1;
        return undefined;
      },
      new ServerPolicy({ allowed: ['10.0.0.0/8', '*.example.com'] }),
    );
    assert.equal(state.kind !== 'connected' && state.failure?.reason, 'ServerNotAllowed');
    assert.equal(requests, 0);
    const listed = await firstState(
      () => undefined,
      new ServerPolicy({ allowed: ['127.0.0.0/8'] }),
    );
    assert.equal(listed.state.kind, 'connected');
  });

  test('a name that resolves to another address later is checked for each connection', async () => {
    const server = await ScriptedServer.start(() => ({
      status: 200,
      body: {},
      headers: { connection: 'close' },
    }));
    const { port } = new URL(server.url);
    let answers = ['127.0.0.1'];
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(
        null,
        answers.map((address) => ({ address, family: 4 })),
      );
    const client = createApiClient({
      config: configFor(`http://rebound.example.com:${port}`),
      clock: createSystemClock(),
      logger: silentLogger(),
      metrics: freshMetrics(),
      servers: { policy: new ServerPolicy(), lookup },
    });
    const get = () => client.request({ method: 'GET', path: '/version', flow }, signal);
    try {
      await get();
      answers = ['169.254.169.254'];
      await assert.rejects(
        get(),
        (error) => error instanceof KubeError && error.isServerNotAllowed,
      );
      answers = ['169.254.169.254', '127.0.0.1'];
      await get();
      assert.equal(server.connectionCount, 2);
    } finally {
      await client.close();
      await server.stop();
    }
  });

  test('a loopback address is noted in the state', async () => {
    const { state } = await firstState(() => undefined);
    assert.deepEqual(state.kind === 'connected' && state.notes, ['loopback']);
  });

  test('the address of the hub is noted in the state', async () => {
    const server = await ScriptedServer.start(({ path }) =>
      path === '/version'
        ? { status: 200, body: { gitVersion: 'v1.36.0' } }
        : { status: 200, body: { metadata: { uid: 'aa-1' } } },
    );
    try {
      const { state } = await stateOf(configOf(server), new ServerPolicy({ hub: server.url }));
      assert.deepEqual(state.kind === 'connected' && state.notes, ['hub']);
    } finally {
      await server.stop();
    }
  });

  test('the status does not show whether a port is open, closed or filtered', async () => {
    const { server: closing, port: closed } = await listen(() => {});
    closing.close();
    await once(closing, 'close');
    const { server, port: resetting } = await listen((socket) => socket.destroy());
    const { server: other, port: mute } = await listen((socket) => socket.end('SSH-2.0-x\r\n'));
    try {
      const failures = await Promise.all(
        [
          ...[closed, resetting, mute].map((port) => `http://127.0.0.1:${port}`),
          'http://none.invalid',
        ].map((each) => failureTo(configFor(each))),
      );
      for (const failure of failures)
        assert.deepEqual(failure, {
          reason: 'Unreachable',
          message: 'Cannot connect to the API server; the log of the runtime says why',
        });
    } finally {
      other.close();
      server.close();
    }
  });
});
