import { memberClients } from '#cli/member-clients.ts';
import { type ClusterConfig, ServerPolicy } from '#kube';
import type { ConnectionState } from '#runtime/members/connection-state.ts';
import { MemberConnection } from '#runtime/members/member-connection.ts';
import { createSystemClock } from '#util/clock.ts';
import { createSystemRandom } from '#util/random.ts';
import { whenAborted } from '#util/when-aborted.ts';
import { type Script, ScriptedServer } from '../../support/scripted-server.ts';
import { freshMetrics, silentLogger } from '../../support/silent-telemetry.ts';

export const uid = '7c6f1a2b-0000-4000-8000-000000000001';
export const systemPath = '/api/v1/namespaces/kube-system';
export const configOf = ({ url: address }: ScriptedServer): ClusterConfig => ({
  server: address,
  namespace: 'default',
  credentials: { load: async () => ({ headers: {} }) },
});

/** Connects to a member as `homeostat run` does, until its first state. */
export async function stateOf(
  config: ClusterConfig,
  servers = new ServerPolicy(),
): Promise<{ readonly state: ConnectionState; readonly admitted: readonly string[] }> {
  const shared = { clock: createSystemClock(), random: createSystemRandom() };
  const logger = silentLogger();
  const connect = memberClients({ ...shared, logger, servers });
  const admitted: string[] = [];
  const found = Promise.withResolvers<ConnectionState>();
  const connection = new MemberConnection({
    ...shared,
    logger,
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
  }
}

/** Connects to a member that answers as the script says. */
export async function firstState(answer: Script, servers = new ServerPolicy()) {
  const server = await ScriptedServer.start(async (request, response) => {
    const found = await answer(request, response);
    if (found !== undefined || response.headersSent) return found;
    if (request.path === '/version') return { status: 200, body: { gitVersion: 'v1.36.0' } };
    if (request.path === systemPath) return { status: 200, body: { metadata: { uid } } };
    return { status: 404, body: { kind: 'Status', code: 404 } };
  });
  try {
    return await stateOf(configOf(server), servers);
  } finally {
    await server.stop();
  }
}

export const messageOf = (state: ConnectionState) =>
  state.kind === 'connected' ? state.version : (state.failure?.message ?? '');
