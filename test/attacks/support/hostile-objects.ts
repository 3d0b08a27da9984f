import assert from 'node:assert/strict';
import { memberClients } from '#cli/member-clients.ts';
import type { KubeCluster } from '#kube';
import { untilInformer } from '#reconcile';
import { createSystemClock } from '#util/clock.ts';
import { gvkOf } from '#util/gvk.ts';
import { createSystemRandom } from '#util/random.ts';
import { type ScriptedAnswer, ScriptedServer } from '../../support/scripted-server.ts';
import { freshMetrics, silentLogger } from '../../support/silent-telemetry.ts';
import { configOf } from './hostile-connection.ts';

export const { signal } = new AbortController();
export const configMaps = '/api/v1/configmaps';
export const group = { name: 'v1', kind: 'APIGroup' };
export const core = {
  kind: 'APIResourceList',
  resources: [
    { name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['list', 'watch'] },
  ],
};
/** A ConfigMap as JSON, with a field of its own. */
export const mapText = (name: string, data: string, version = 7) =>
  `{"metadata":{"namespace":"default","name":"${name}","uid":"aa-${name}","resourceVersion":"${version}"},"data":${data}}`;
export const listText = (...items: readonly string[]) =>
  `{"kind":"ConfigMapList","metadata":{"resourceVersion":"7"},"items":[${items.join(',')}]}`;
export const maps = (bytes: number) => `[${'{},'.repeat(bytes / 3)}{}]`;
export const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

export interface HostileMember {
  /** Of its ConfigMaps; computed for each request. */
  readonly list: string | (() => string);
  /** Answers a request in place of the rest. @default none */
  readonly onRequest?: (path: string) => ScriptedAnswer;
  /** Sent when they are watched. */
  readonly watch?: string;
  /** Called for each watch. */
  readonly onWatch?: (path: string) => void;
}

/** Members of one hub: their clients, with how often each has exceeded a limit. */
export async function useMembers(
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
  for (const [name, { list, watch = '', onWatch, onRequest }] of Object.entries(members)) {
    const server = await ScriptedServer.start(({ path }, response) => {
      const json = { 'content-type': 'application/json' };
      const answer = onRequest?.(path);
      if (answer !== undefined) return answer;
      const text = () => (typeof list === 'string' ? list : list());
      if (path.includes('watch=1')) {
        response.writeHead(200, json);
        response.write(watch);
        onWatch?.(path);
        return undefined;
      }
      if (path.startsWith(configMaps)) return { status: 200, body: text(), headers: json };
      if (path.startsWith('/api/v1')) return { status: 200, body: core };
      return { status: path.startsWith('/api') ? 200 : 404, body: group };
    });
    const { cluster, close } = connect(configOf(server), {
      name,
      metrics: freshMetrics(),
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
export async function untilRead(cluster: KubeCluster | undefined): Promise<string | number> {
  assert.ok(cluster);
  const informer = cluster.acquire({ gvk: gvkOf('v1', 'ConfigMap') });
  return untilInformer(informer, signal, () => {
    const { state } = informer;
    if (state.kind === 'failing') return state.error.code;
    return state.kind === 'synced' ? [...informer.list()].length : undefined;
  });
}
