import { setTimeout as sleep } from 'node:timers/promises';
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

export interface LatencyResult {
  readonly last: 'reachable' | 'frozen' | 'stopped';
  /** One for each edit, ascending. */
  readonly latenciesMs: readonly number[];
}

/** From an edit in a member until its child has changed, while the last member is reachable, frozen or stopped, in turns. */
export async function benchUnreachable(
  { hub, members }: Stage,
  { edits, reps }: { readonly edits: number; readonly reps: number },
): Promise<readonly LatencyResult[]> {
  const kind = kindNamed('latency', everywhere);
  const last = members.at(-1);
  const others = members.slice(0, -1);
  if (last === undefined || others.length === 0) throw new Error('Expected two members at least');
  const homeostat = launch(hub, [kind]);
  const latencies = new EditLatencies(kind, others);
  try {
    await hub.client().untilList(clusters, () => true);
    for (const [index, member] of members.entries())
      await register(hub.client(), `late-${index}`, member.kubeconfig('operator'));
    await createResources(kind, members);
    const labels = { definition: kind.name, ready: 'True' };
    const count = resourceNames.length * members.length;
    await untilMetric(homeostat, 'homeostat_resources', count, labels);
    await latencies.start();
    const results: LatencyResult[] = [];
    const note = async (state: LatencyResult['last']) => {
      results.push({ last: state, latenciesMs: await latencies.measure(edits) });
    };
    const pid = () => last.pids.apiServer ?? 0;
    const untilBack = () =>
      untilMetric(homeostat, 'homeostat_cluster_connected', members.length).then(() =>
        sleep(3_000),
      );
    await latencies.measure(edits);
    for (let rep = 0; rep < reps; rep++) {
      await note('reachable');
      process.kill(pid(), 'SIGSTOP');
      await note('frozen');
      process.kill(pid(), 'SIGCONT');
      await untilBack();
      await note('reachable');
      await last.stopApiServer();
      await note('stopped');
      await last.startApiServer();
      await untilBack();
    }
    return results;
  } finally {
    await latencies.stop();
    await homeostat.stop();
  }
}
