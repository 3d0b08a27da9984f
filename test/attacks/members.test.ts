import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memberClients } from '#cli/member-clients.ts';
import { untilInformer } from '#reconcile';
import { createSystemClock } from '#util/clock.ts';
import { gvkOf } from '#util/gvk.ts';
import { createSystemRandom } from '#util/random.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';
import { configOf, firstState, messageOf, systemPath } from './support/hostile-connection.ts';
import {
  group,
  listText,
  maps,
  mapText,
  nested,
  signal,
  untilRead,
  useMembers,
} from './support/hostile-objects.ts';

/** C0, C1 and bidi characters: titles, colors, a reversed line. */
const hostileText = '\u001b]0;owned\u0007\u009b31m\u202Egnissim';
const unprintable = /[^\P{Cc}\t\n]|\p{Bidi_Control}/u;

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

  test('lines of watches that never end count while they are received', async () => {
    const hostile = { list: listText(), watch: `{"a":"${'x'.repeat(4_300_000)}` };
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
      name: `kind${index}`,
      kind: `Kind${index}`,
      namespaced: true,
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
      name: 'hostile',
      metrics: freshMetrics(),
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
