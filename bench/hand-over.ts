// `npm run bench -- hand-over`: how long resources wait when the leader changes, and what a follower costs.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type ControlPlane,
  type PlaneClient,
  startControlPlane,
} from '../test/support/control-plane/index.ts';
import { HomeostatProcess } from '../test/support/homeostat-process.ts';
import { ChildWatch } from './isolation/child-watch.ts';
import {
  type BenchKind,
  bodyOf,
  collectionOf,
  goodKinds,
  namespace,
} from './isolation/definitions.ts';
import { inParallel } from './isolation/neighbours.ts';

const usage = `npm run bench -- hand-over [options]
  --resources N   each with one child (default 10000)
  --reps N        of each way to end the leader, in turns (default 3)
  --bundle FILE   default dist/homeostat.mjs
`;

const { values } = parseArgs({
  options: {
    resources: { type: 'string', default: '10000' },
    reps: { type: 'string', default: '3' },
    bundle: { type: 'string', default: 'dist/homeostat.mjs' },
    help: { type: 'boolean', default: false },
  },
});

type Way = 'SIGTERM' | 'SIGKILL';

interface HandOver {
  readonly way: Way;
  /** From the signal to the child of a resource that is edited right after it, in ms. */
  readonly firstWriteMs: number;
  /** From the signal until every resource of an edit of 100 more has its child, in ms. */
  readonly allMs: number;
  readonly follower: Memory;
  readonly leader: Memory;
}

/** Resident memory in MiB. */
interface Memory {
  /** Without pages of files: most of these are those of Node itself, which processes share. */
  readonly ownMiB: number;
  readonly allMiB: number;
}

const leaseSeconds = 15;
const systemNamespace = 'homeostat-system';
const limitMs = 300_000;
/** A follower has come to rest by then. */
const followerRestMs = 5_000;
const editedBeside = 100;

async function bench(): Promise<void> {
  process.env.HOMEOSTAT_TEST_EXECUTABLE = values.bundle;
  const plane = await startControlPlane({ controllerManager: false });
  try {
    const results = await handOvers(plane, Number(values.resources));
    console.log(tableOf(results));
  } finally {
    await plane.stop();
  }
}

async function handOvers(plane: ControlPlane, resources: number): Promise<readonly HandOver[]> {
  const client = plane.client();
  const [kind] = goodKinds(1) as [BenchKind];
  for (const name of [namespace, systemNamespace])
    await client.create('/api/v1/namespaces', { metadata: { name } });
  const children = new ChildWatch(client);
  await children.start();
  const runtimes: HomeostatProcess[] = [start(plane, kind)];
  try {
    await runtimes[0]?.whenReady();
    const names = Array.from({ length: resources }, (_, index) => `thing-${index}`);
    await inParallel(names, (name) => client.create(collectionOf(kind), bodyOf(kind, name, '0')));
    await untilSeen(children, names, '0');
    const results: HandOver[] = [];
    for (let rep = 0; rep < Number(values.reps); rep++) {
      for (const way of ['SIGTERM', 'SIGKILL'] as const) {
        const follower = start(plane, kind);
        runtimes.push(follower);
        await follower.url();
        await sleep(followerRestMs);
        const leader = runtimes.shift() as HomeostatProcess;
        const value = `${way}-${rep}`;
        results.push(
          await handOver({ way, client, kind, children, names, leader, follower, value }),
        );
        console.log(tableOf(results.slice(-1)));
      }
    }
    return results;
  } finally {
    await Promise.all(runtimes.map((runtime) => runtime.stop()));
    await children.stop();
  }
}

function start(plane: ControlPlane, kind: BenchKind): HomeostatProcess {
  return new HomeostatProcess({
    kubeconfig: plane.kubeconfigPath('operator'),
    definitions: { 'good.yaml': kind.text },
    flags: ['--leader-elect', '--lease-duration', `${leaseSeconds}s`],
  });
}

interface HandOverTerms {
  readonly way: Way;
  readonly client: PlaneClient;
  readonly kind: BenchKind;
  readonly children: ChildWatch;
  readonly names: readonly string[];
  readonly leader: HomeostatProcess;
  readonly follower: HomeostatProcess;
  /** What resources are edited to. */
  readonly value: string;
}

async function handOver(terms: HandOverTerms): Promise<HandOver> {
  const { way, client, kind, children, names, leader, follower, value } = terms;
  const memory = { follower: memoryOf(follower), leader: memoryOf(leader) };
  const startMs = performance.now();
  const gone = leader.stop(way);
  // The leader takes no new work once it is stopping: an edit from here on is the next one's.
  await gone;
  const edit = (name: string) => client.patch(`${collectionOf(kind)}/${name}`, { spec: { value } });
  const [first = '', ...more] = names.slice(0, editedBeside + 1);
  await edit(first);
  await inParallel(more, edit);
  await untilSeen(children, [first], value);
  await untilSeen(children, more, value);
  const seen = [first, ...more].map((name) => children.seenMs(name, value) ?? Number.NaN);
  return {
    way,
    firstWriteMs: Math.min(...seen) - startMs,
    allMs: Math.max(...seen) - startMs,
    ...memory,
  };
}

async function untilSeen(
  children: ChildWatch,
  names: readonly string[],
  value: string,
): Promise<void> {
  const deadlineMs = performance.now() + limitMs;
  while (names.some((name) => children.seenMs(name, value) === undefined)) {
    if (performance.now() > deadlineMs) throw new Error(`Children are missing at "${value}"`);
    await sleep(50);
  }
}

function memoryOf({ pid }: HomeostatProcess): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (field: string) =>
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? Number.NaN) / 1_024;
  return { ownMiB: mib('RssAnon'), allMiB: mib('VmRSS') };
}

function tableOf(results: readonly HandOver[]): string {
  const mib = ({ ownMiB, allMiB }: Memory) => `${ownMiB.toFixed(0)} (${allMiB.toFixed(0)})`;
  const lines = results.map(
    ({ way, firstWriteMs, allMs, follower, leader }) =>
      `| ${way} | ${firstWriteMs.toFixed(0)} | ${allMs.toFixed(0)} | ${mib(follower)} | ${mib(leader)} |`,
  );
  return [
    `| end of the leader (Lease of ${leaseSeconds} s) | first write, ms | ${editedBeside + 1} edits done, ms | follower, MiB without files (all) | leader |`,
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

if (values.help) console.log(usage);
else await bench();
