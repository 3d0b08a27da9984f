import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memberClients } from '../../src/cli/member-clients.ts';
import type { ClusterConfig, KubeCluster } from '../../src/kube/index.ts';
import { untilInformer } from '../../src/reconcile/index.ts';
import type { ConnectionState } from '../../src/runtime/members/connection-state.ts';
import { MemberConnection } from '../../src/runtime/members/member-connection.ts';
import { createSystemClock } from '../../src/util/clock.ts';
import { gvkOf } from '../../src/util/gvk.ts';
import { createSystemRandom } from '../../src/util/random.ts';
import { whenAborted } from '../../src/util/when-aborted.ts';
import { type Script, ScriptedServer } from '../support/scripted-server.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';

const uid = '7c6f1a2b-0000-4000-8000-000000000001';
const systemPath = '/api/v1/namespaces/kube-system';
/** C0, C1 and bidi characters: titles, colors, a reversed line. */
const hostileText = '\u001b]0;owned\u0007\u009b31m\u202Egnissim';
const unprintable = /[^\P{Cc}\t\n]|\p{Bidi_Control}/u;

const configOf = ({ url: address }: ScriptedServer): ClusterConfig => ({
  server: address,
  namespace: 'default',
  credentials: { load: async () => ({ headers: {} }) },
});

/** Connects to a member that answers as the script says, as `homeostat run` does, until its first state. */
async function firstState(answer: Script): Promise<{
  readonly state: ConnectionState;
  readonly admitted: readonly string[];
}> {
  const server = await ScriptedServer.start(async (request, response) => {
    const found = await answer(request, response);
    if (found !== undefined || response.headersSent) return found;
    if (request.path === '/version') return { status: 200, body: { gitVersion: 'v1.36.0' } };
    if (request.path === systemPath) return { status: 200, body: { metadata: { uid } } };
    return { status: 404, body: { kind: 'Status', code: 404 } };
  });
  const config = configOf(server);
  const shared = { clock: createSystemClock(), random: createSystemRandom() };
  const connect = memberClients({ ...shared, logger: silentLogger() });
  const admitted: string[] = [];
  const found = Promise.withResolvers<ConnectionState>();
  const connection = new MemberConnection({
    ...shared,
    connect: (settings, events) =>
      connect(settings, { name: 'hostile', metrics: freshMetrics(), ...events }),
    admit: async (each) => {
      admitted.push(each);
    },
    onConnected: (_, signal) => whenAborted(signal),
    onChange() {
      const { state } = connection;
      const isFirst = state.kind === 'connecting' && state.failure === undefined;
      if (!isFirst) found.resolve(state);
    },
  });
  connection.setAccess({ config, digest: 'first' });
  const stop = new AbortController();
  const run = connection.run(stop.signal);
  try {
    return { state: await found.promise, admitted };
  } finally {
    stop.abort(new Error('The test is over'));
    await run;
    await server.stop();
  }
}

const messageOf = (state: ConnectionState) =>
  state.kind === 'connected' ? state.version : (state.failure?.message ?? '');

describe('attacks/members: texts of a member', () => {
  for (const [what, wrong] of [
    ['an entry of a list', 'aa,zz=bb'],
    ['60 kB', 'a'.repeat(60_000)],
    ['control characters', hostileText],
    ['no text', { a: 1 }],
  ] as const)
    test(`a UID that is ${what} is no UID: nothing is recorded`, async () => {
      const { state, admitted } = await firstState(({ path }) =>
        path === systemPath ? { status: 200, body: { metadata: { uid: wrong } } } : undefined,
      );
      assert.deepEqual(admitted, []);
      assert.match(messageOf(state), /^Expected the namespace "kube-system" with a UID/);
    });

  test('a version has at most 64 printable characters', async () => {
    const { state } = await firstState(({ path }) =>
      path === '/version'
        ? { status: 200, body: { gitVersion: hostileText.padEnd(5_000, 'x') } }
        : undefined,
    );
    assert.equal(state.kind, 'connected');
    assert.ok(messageOf(state).length <= 64);
    assert.doesNotMatch(messageOf(state), unprintable);
  });

  test('the message and the names of an error are short and printable', async () => {
    for (const message of [
      `${hostileText.padEnd(900_000, 'x')}`,
      `cannot get resource "${hostileText.padEnd(900_000, 'x')}" in API group "" at the cluster scope`,
    ]) {
      const { state } = await firstState(() => ({
        status: 403,
        body: { kind: 'Status', code: 403, message, details: { name: hostileText, kind: 'x' } },
      }));
      assert.ok(messageOf(state).length <= 1_200, String(messageOf(state).length));
      assert.doesNotMatch(messageOf(state), unprintable);
    }
  });
});

const { signal } = new AbortController();
const configMaps = '/api/v1/configmaps';
const group = { name: 'v1', kind: 'APIGroup' };
const core = {
  kind: 'APIResourceList',
  resources: [
    { name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['list', 'watch'] },
  ],
};
/** A ConfigMap as JSON, with a field of its own. */
const mapText = (name: string, data: string, version = 7) =>
  `{"metadata":{"namespace":"default","name":"${name}","uid":"aa-${name}","resourceVersion":"${version}"},"data":${data}}`;
const listText = (...items: readonly string[]) =>
  `{"kind":"ConfigMapList","metadata":{"resourceVersion":"7"},"items":[${items.join(',')}]}`;
const maps = (bytes: number) => `[${'{},'.repeat(bytes / 3)}{}]`;
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

interface HostileMember {
  /** Of its ConfigMaps. */
  readonly list: string;
  /** The response with the list never ends. @default false */
  readonly isEndless?: boolean;
  /** Sent when they are watched. */
  readonly watch?: string;
  /** Called for each watch. */
  readonly onWatch?: () => void;
}

/** Members of one hub: their clients, with how often each has exceeded a limit. */
async function useMembers(
  members: Readonly<Record<string, HostileMember>>,
  body: (
    clusters: Readonly<Record<string, KubeCluster>>,
    exceeded: readonly string[],
    untilExceeded: Promise<void>,
  ) => Promise<void>,
  heapBytes = 536_870_912,
): Promise<void> {
  const shared = { clock: createSystemClock(), random: createSystemRandom() };
  const connect = memberClients({ ...shared, logger: silentLogger(), heapBytes });
  const ends: (() => Promise<void>)[] = [];
  const clusters: Record<string, KubeCluster> = {};
  const exceeded: string[] = [];
  const first = Promise.withResolvers<void>();
  for (const [name, { list, isEndless, watch = '', onWatch }] of Object.entries(members)) {
    const server = await ScriptedServer.start(({ path }, response) => {
      const json = { 'content-type': 'application/json' };
      if (path.includes('watch=1')) {
        response.writeHead(200, json);
        response.write(watch);
        onWatch?.();
        return undefined;
      }
      if (path.startsWith(configMaps) && isEndless === true) {
        response.writeHead(200, json);
        response.write(list);
        return undefined;
      }
      if (path.startsWith(configMaps)) return { status: 200, body: list, headers: json };
      if (path.startsWith('/api/v1')) return { status: 200, body: core };
      return { status: path.startsWith('/api') ? 200 : 404, body: group };
    });
    const { cluster, close } = connect(configOf(server), {
      ...{ name, metrics: freshMetrics() },
      onExceeded(limit) {
        exceeded.push(`${name}: ${limit}`);
        first.resolve();
        void cluster.disconnect();
      },
    });
    clusters[name] = cluster;
    ends.push(async () => {
      await close();
      await server.stop();
    });
  }
  try {
    await body(clusters, exceeded, first.promise);
  } finally {
    for (const end of ends) await end();
  }
}

/** Resolves when the ConfigMaps of a member are synced or cannot be read: the code, or the number of objects. */
async function untilRead(cluster: KubeCluster | undefined): Promise<string | number> {
  assert.ok(cluster);
  const informer = cluster.acquire({ gvk: gvkOf('v1', 'ConfigMap') });
  return untilInformer(informer, signal, () => {
    const { state } = informer;
    if (state.kind === 'failing') return state.error.code;
    return state.kind === 'synced' ? [...informer.list()].length : undefined;
  });
}

describe('attacks/members: costs of a member', () => {
  for (const what of ['/version', systemPath])
    test(`more than 64 KiB as ${what} is not read`, async () => {
      const { state, admitted } = await firstState(({ path }, response) => {
        if (path !== what) return undefined;
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(maps(16_777_210));
        return undefined;
      });
      assert.equal(state.kind === 'failed' && state.failure.reason, 'LimitExceeded');
      assert.match(messageOf(state), /The response is larger than 65536 bytes/);
      assert.deepEqual(admitted, []);
    });

  for (const [what, member] of [
    ['a list of 15 MB of maps', { list: listText(mapText('a', maps(15_000_000))) }],
    ['objects nested 9,000 deep', { list: listText(mapText('a', nested(9_000))) }],
  ] as const)
    test(`${what} is not parsed`, async () => {
      await useMembers({ hostile: member }, async ({ hostile }) => {
        assert.equal(await untilRead(hostile), 'too-large');
      });
    });

  for (const [what, data] of [
    ['of 7.5 MB of maps', maps(7_500_000)],
    ['nested 9,000 deep', nested(9_000)],
  ] as const)
    test(`a line of a watch ${what} is not parsed`, async () => {
      const watch = `{"type":"ADDED","object":${mapText('b', data, 8)}}\n`;
      const again = Promise.withResolvers<string>();
      let watches = 0;
      const onWatch = () => {
        watches += 1;
        if (watches === 2) again.resolve('watched again');
      };
      const member = { list: listText(), watch, onWatch };
      await useMembers({ hostile: member }, async ({ hostile }) => {
        assert.ok(hostile);
        const informer = hostile.acquire({ gvk: gvkOf('v1', 'ConfigMap') });
        const parsed = untilInformer(informer, signal, () =>
          informer.get('default', 'b') === undefined ? undefined : 'parsed',
        );
        assert.equal(await Promise.race([again.promise, parsed]), 'watched again');
        assert.equal(informer.get('default', 'b'), undefined);
      });
    });
});

describe('attacks/members: all members together', () => {
  /** The members together have a quarter. */
  const heapBytes = 16_777_216;
  const text = (length: number) => JSON.stringify({ a: 'x'.repeat(length) });
  const healthy = { list: listText(mapText('a', text(500_000))) };

  test('the member with most objects exceeds the limit, not the one that is read last', async () => {
    const members = {
      large: { list: listText(mapText('a', text(1_800_000))) },
      middle: { list: listText(mapText('a', text(1_500_000))) },
      last: { list: listText(mapText('a', text(1_200_000))) },
    };
    await useMembers(
      members,
      async ({ large, middle, last }, exceeded) => {
        for (const each of [large, middle]) assert.equal(await untilRead(each), 1);
        assert.deepEqual(exceeded, []);
        assert.equal(await untilRead(last), 1);
        assert.deepEqual(exceeded, ['large: together']);
      },
      heapBytes,
    );
  });

  for (const [what, hostile] of [
    ['responses', { list: `{"a":"${'x'.repeat(4_300_000)}`, isEndless: true }],
    ['lines of watches', { list: listText(), watch: `{"a":"${'x'.repeat(4_300_000)}` }],
  ] as const)
    test(`${what} that never end count while they are received`, async () => {
      await useMembers(
        { healthy, hostile },
        async (clusters, exceeded, untilExceeded) => {
          assert.equal(await untilRead(clusters.healthy), 1);
          const { hostile: cluster } = clusters;
          const informer = cluster?.acquire({ gvk: gvkOf('v1', 'ConfigMap') });
          assert.ok(informer);
          await untilExceeded;
          assert.deepEqual(exceeded, ['hostile: together']);
          assert.equal(
            clusters.healthy?.acquire({ gvk: gvkOf('v1', 'ConfigMap') }).state.kind,
            'synced',
          );
        },
        heapBytes,
      );
    });

  test('schemas and kinds of a member count', async () => {
    const types = Array.from({ length: 2_000 }, (_, index) => ({
      ...{ name: `kind${index}`, kind: `Kind${index}`, namespaced: true },
      verbs: ['list', 'watch'],
    }));
    const server = await ScriptedServer.start(({ path }) =>
      path.startsWith('/apis/hostile-')
        ? { status: 200, body: { kind: 'APIResourceList', resources: types } }
        : { status: 200, body: group },
    );
    const shared = { clock: createSystemClock(), random: createSystemRandom() };
    const connect = memberClients({ ...shared, logger: silentLogger(), heapBytes });
    const exceeded: string[] = [];
    const { cluster, close } = connect(configOf(server), {
      ...{ name: 'hostile', metrics: freshMetrics() },
      onExceeded: (limit) => exceeded.push(limit),
    });
    try {
      for (let count = 0; count < 8; count++)
        await cluster.lookUp(gvkOf(`hostile-${count}.example.com/v1`, 'Kind7'), signal);
      assert.ok(exceeded.includes('own'));
    } finally {
      await close();
      await server.stop();
    }
  });
});
