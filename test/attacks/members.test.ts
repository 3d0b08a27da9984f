import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memberClients } from '../../src/cli/member-clients.ts';
import type { ClusterConfig } from '../../src/kube/index.ts';
import type { ConnectionState } from '../../src/runtime/members/connection-state.ts';
import { MemberConnection } from '../../src/runtime/members/member-connection.ts';
import { createSystemClock } from '../../src/util/clock.ts';
import { createSystemRandom } from '../../src/util/random.ts';
import { whenAborted } from '../../src/util/when-aborted.ts';
import { type Script, ScriptedServer } from '../support/scripted-server.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';

const uid = '7c6f1a2b-0000-4000-8000-000000000001';
const systemPath = '/api/v1/namespaces/kube-system';
/** C0, C1 and bidi characters: titles, colors, a reversed line. */
const hostileText = '\u001b]0;owned\u0007\u009b31m\u202Egnissim';
const unprintable = /[^\P{Cc}\t\n]|\p{Bidi_Control}/u;

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
  const config: ClusterConfig = {
    server: server.url,
    namespace: 'default',
    credentials: { load: async () => ({ headers: {} }) },
  };
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
    ['900 kB', 'a'.repeat(900_000)],
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
