import { setTimeout as sleep } from 'node:timers/promises';
import type { HomeostatProcess } from '../../test/support/homeostat-process.ts';
import { startHostileMembers } from '../../test/support/hostile-members/index.ts';
import { createResources, EditLatencies, resourceNames } from './edit-latencies.ts';
import {
  clusters,
  everywhere,
  kindNamed,
  launch,
  register,
  type Stage,
  untilMetric,
} from './stage.ts';

export interface HostileResult {
  readonly others: 'none' | 'three hostile';
  /** One for each edit in the healthy member, ascending. */
  readonly latenciesMs: readonly number[];
  /** Responses of `/healthz`, ascending. */
  readonly probesMs: readonly number[];
}

/** 70 % of the memory limit of the chart. */
const heapMiB = 358;
/** The hostile members have connected, or have failed, by then. */
const settleMs = 10_000;
const probeEveryMs = 200;

/** From an edit in a healthy member until its child has changed, without and with three hostile members, in turns. */
export async function benchHostile(
  { hub, members }: Stage,
  { edits, reps }: { readonly edits: number; readonly reps: number },
): Promise<readonly HostileResult[]> {
  const kind = kindNamed('hostile', everywhere);
  const healthy = members.slice(0, 1);
  const [first] = healthy;
  if (first === undefined) throw new Error('Expected one member at least');
  const env = { NODE_OPTIONS: `--max-old-space-size=${heapMiB} --max-semi-space-size=4` };
  const homeostat = launch(hub, [kind], env);
  const latencies = new EditLatencies(kind, healthy);
  const hostile = await startHostileMembers();
  try {
    await hub.client().untilList(clusters, () => true);
    await register(hub.client(), 'healthy', first.kubeconfig('operator'));
    await createResources(kind, healthy);
    const labels = { definition: kind.name, ready: 'True' };
    await untilMetric(homeostat, 'homeostat_resources', resourceNames.length, labels);
    await latencies.start();
    await latencies.measure(edits);
    const results: HostileResult[] = [];
    const note = async (others: HostileResult['others']) => {
      const probes = probe(homeostat);
      const latenciesMs = await latencies.measure(edits);
      results.push({ others, latenciesMs, probesMs: await probes.stop() });
    };
    for (let rep = 0; rep < reps; rep++) {
      await note('none');
      for (const [name, kubeconfig] of Object.entries(hostile.kubeconfigs))
        await register(hub.client(), name, kubeconfig);
      await sleep(settleMs);
      await note('three hostile');
      for (const name of Object.keys(hostile.kubeconfigs))
        await hub.client().delete(`${clusters}/${name}`);
      await sleep(settleMs);
    }
    return results;
  } finally {
    hostile.stop();
    await latencies.stop();
    await homeostat.stop();
  }
}

/** Asks `/healthz` again and again until it is stopped. */
function probe(homeostat: HomeostatProcess) {
  const found: number[] = [];
  let isStopped = false;
  const run = async () => {
    const url = `${await homeostat.url()}/healthz`;
    while (!isStopped) {
      const startMs = performance.now();
      const response = await fetch(url);
      await response.text();
      if (!response.ok) throw new Error(`The status of /healthz is ${response.status}`);
      found.push(performance.now() - startMs);
      await sleep(probeEveryMs);
    }
  };
  const running = run();
  return {
    async stop(): Promise<readonly number[]> {
      isStopped = true;
      await running;
      return found.sort((a, b) => a - b);
    },
  };
}
