import assert from 'node:assert/strict';
import type { PathDiscovery } from '#kube/api/discovery.ts';
import { createInformerSet } from '#kube/cache/informer-set.ts';
import type { InformerSettings } from '#kube/cache/reflector-context.ts';
import type { Informer, InformerQuery, ResourceType } from '#kube/roles.ts';
import { createLogger } from '#telemetry';
import { gvkKey, gvkOf } from '#util/gvk.ts';
import { FakeClock } from '../fake-clock.ts';
import { ScriptedRights } from '../fakes/scripted-rights.ts';
import { freshMetrics } from '../silent-telemetry.ts';
import { type PendingStream, ScriptedApi, type ScriptedStream } from './scripted-api.ts';

export const configMaps: InformerQuery = { gvk: gvkOf('v1', 'ConfigMap') };

/**
 * A cache with everything around it under the test's control. `fraction` is what the random source gives: no jitter. `log` is what an
 * operator would see, as `level message`; `lines` are these as they are written.
 */
export function informerBench(settings: InformerSettings = {}, fraction = 0) {
  const log: string[] = [];
  const lines: string[] = [];
  const write = (line: string) => {
    lines.push(line);
    const { level, msg } = JSON.parse(line);
    log.push(`${level} ${msg}`);
  };
  const api = new ScriptedApi();
  const clock = new FakeClock();
  const metrics = freshMetrics();
  const discovery = new ScriptedDiscovery();
  const rights = new ScriptedRights();
  const reported: ('suspected' | 'restored')[] = [];
  const informers = createInformerSet({
    api,
    discovery,
    rights,
    clock,
    metrics,
    random: { fraction: () => fraction, text: () => '' },
    logger: createLogger({ level: 'info', destination: { write } }),
    settings: { freeze: true, ...settings },
    suspectOutage: () => void reported.push('suspected'),
    onRollback: () => void reported.push('restored'),
  });
  return { api, clock, metrics, discovery, rights, informers, log, lines, reported };
}

/** Serves ConfigMaps, until it is changed. */
export class ScriptedDiscovery implements PathDiscovery {
  readonly served = new Map<string, ResourceType>();
  lookUps = 0;
  readonly #read = new Map<string, ResourceType>();

  constructor() {
    this.serve('v1', 'ConfigMap', 'configmaps');
  }

  serve(apiVersion: string, kind: string, plural: string): void {
    const gvk = gvkOf(apiVersion, kind);
    const type = { gvk, plural, namespaced: true, hasStatus: false, verbs: ['list', 'watch'] };
    this.served.set(gvkKey(gvk), type);
  }

  withPlural(): undefined {
    return undefined;
  }

  resourceFor(gvk: InformerQuery['gvk']): ResourceType | undefined {
    return this.#readOnce(gvk);
  }

  async lookUp(gvk: InformerQuery['gvk']): Promise<ResourceType | undefined> {
    this.lookUps += 1;
    return this.#readOnce(gvk);
  }

  forget(gvk: InformerQuery['gvk']): void {
    this.#read.delete(gvkKey(gvk));
  }

  /** As the real one: what is known is asked for again only when it was forgotten. */
  #readOnce(gvk: InformerQuery['gvk']): ResourceType | undefined {
    const key = gvkKey(gvk);
    const type = this.#read.get(key) ?? this.served.get(key);
    if (type !== undefined) this.#read.set(key, type);
    return type;
  }
}

/** A ConfigMap as a server sends it. */
export function configMap(name: string, version: number, labels: Record<string, string> = {}) {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: String(version),
      labels,
    },
    data: { version: String(version) },
  };
}

/** The body of a list. */
export function listOf(version: number, items: readonly unknown[], next?: string) {
  const metadata = { resourceVersion: String(version), ...(next && { continue: next }) };
  return { kind: 'ConfigMapList', apiVersion: 'v1', metadata, items };
}

/** Answers the list that an informer begins with, and opens its watch. */
export async function start(
  api: ScriptedApi,
  version: number,
  items: readonly unknown[] = [],
): Promise<{ readonly pending: PendingStream; readonly stream: ScriptedStream }> {
  (await api.nextRequest()).answer(listOf(version, items));
  const pending = await api.nextStream();
  return { pending, stream: pending.open() };
}

/** Who is in the cache. */
export function namesIn(informer: Informer): readonly string[] {
  return [...informer.list()].map(({ object }) => object.metadata.name);
}

/** Answers the list of an informer whose watch ended before its time, or the comparison if it has more than one page. */
export async function answerAfterBreak(
  api: ScriptedApi,
  version: number,
  items: readonly unknown[] = [],
  limit = '500',
): Promise<void> {
  const asked = await api.nextRequest();
  assert.deepEqual(asked.request.query, { limit });
  asked.answer(listOf(version, items));
}

/** Another informer, whose watch stays open: not all connections break at once. */
export async function startWitness({
  api,
  informers,
}: ReturnType<typeof informerBench>): Promise<void> {
  informers.acquire({ ...configMaps, labelSelector: 'witness' });
  await start(api, 7);
}
