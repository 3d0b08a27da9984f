import { setTimeout as sleep } from 'node:timers/promises';
import { ChildWatch } from '../isolation/child-watch.ts';
import { bodyOf, collectionOf } from '../isolation/definitions.ts';
import { everywhere, kindNamed, launch, register, type Stage, untilMetric } from './stage.ts';

export interface LatencyResult {
  readonly last: 'reachable' | 'frozen' | 'stopped';
  /** One for each edit, ascending. */
  readonly latenciesMs: readonly number[];
}

const perMember = 20;
const everyMs = 50;
const limitMs = 60_000;

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
  const watches = others.map((member) => new ChildWatch(member.client()));
  try {
    await hub.client().untilList('/apis/homeostat.dev/v1alpha1/clusters', () => true);
    for (const [index, member] of members.entries())
      await register(hub.client(), `late-${index}`, member.kubeconfig('operator'));
    const names = Array.from({ length: perMember }, (_, index) => `late-${index}`);
    for (const member of members) {
      await member.client().untilList(`/apis/${kind.group}/v1/things`, () => true);
      for (const name of names)
        await member.client().create(collectionOf(kind), bodyOf(kind, name, 'a'));
    }
    const labels = { definition: kind.name, ready: 'True' };
    await untilMetric(homeostat, 'homeostat_resources', perMember * members.length, labels);
    for (const watch of watches) await watch.start();
    let turn = 0;
    const edit = async (): Promise<number> => {
      const index = turn % others.length;
      const name = names[Math.floor(turn / others.length) % names.length] ?? '';
      const value = `turn-${turn++}`;
      const path = `${collectionOf(kind)}/${name}`;
      await others[index]?.client().patch(path, { spec: { value } });
      const startMs = performance.now();
      for (;;) {
        const seenMs = watches[index]?.seenMs(name, value);
        if (seenMs !== undefined) return Math.max(0, seenMs - startMs);
        if (performance.now() - startMs > limitMs) throw new Error(`"${value}" was not seen`);
        await sleep(1);
      }
    };
    const latencies = async () => {
      const found: Promise<number>[] = [];
      for (let count = 0; count < edits; count++) {
        found.push(edit());
        await sleep(everyMs);
      }
      return (await Promise.all(found)).sort((a, b) => a - b);
    };
    const results: LatencyResult[] = [];
    const note = async (state: LatencyResult['last']) => {
      results.push({ last: state, latenciesMs: await latencies() });
    };
    const pid = () => last.pids.apiServer ?? 0;
    const untilBack = () =>
      untilMetric(homeostat, 'homeostat_cluster_connected', members.length).then(() =>
        sleep(3_000),
      );
    await latencies();
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
    for (const watch of watches) await watch.stop();
    await homeostat.stop();
  }
}
