import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ControlPlane } from '../../test/support/control-plane/index.ts';
import type { HomeostatProcess } from '../../test/support/homeostat-process.ts';
import { inParallel } from '../isolation/neighbours.ts';
import { clusters, cpuMs, kindNamed, launch, memoryMiB, register, untilMetric } from './stage.ts';

export interface IdleResult {
  readonly members: number;
  /** Of each member. */
  readonly memberMiB: number;
  readonly sockets: number;
  /** Share of a core at rest. */
  readonly cpu: number;
}

/** Kept connections of requests are closed by then (45 s), and memory of the start is free. */
const restMs = 75_000;
const measuredMs = 60_000;

/** What connected members cost in which nothing is selected. */
export async function benchIdle(hub: ControlPlane, count: number): Promise<IdleResult> {
  const players = spawn(
    process.execPath,
    [fileURLToPath(new URL('idle-members.ts', import.meta.url))],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  // Selects no member: the kind `Cluster` is there, and nothing is selected.
  const none = '  controller: { clusters: { selector: { matchLabels: { nowhere: "true" } } } }\n';
  const homeostat = launch(hub, [kindNamed('nowhere', none)]);
  try {
    const [line] = (await once(players.stdout.setEncoding('utf8'), 'data')) as [string];
    await hub.client().untilList(clusters, () => true);
    await sleep(restMs);
    const before = await figuresOf(homeostat);
    const names = Array.from({ length: count }, (_, index) => `m${index}`);
    await inParallel(names, (name) =>
      register(hub.client(), name, kubeconfigOf(`http://127.0.0.1:${Number(line)}/${name}`)),
    );
    await untilMetric(homeostat, 'homeostat_cluster_connected', count);
    await sleep(restMs);
    const after = await figuresOf(homeostat);
    return {
      members: count,
      memberMiB: (after.residentMiB - before.residentMiB) / count,
      sockets: (after.sockets - before.sockets) / count,
      cpu: after.cpu - before.cpu,
    };
  } finally {
    await homeostat.stop();
    players.kill();
  }
}

async function figuresOf(homeostat: HomeostatProcess) {
  const startMs = cpuMs(homeostat);
  await sleep(measuredMs);
  const cpu = (cpuMs(homeostat) - startMs) / measuredMs;
  return { residentMiB: memoryMiB(homeostat, 'VmRSS'), sockets: socketsOf(homeostat), cpu };
}

function socketsOf({ pid }: HomeostatProcess): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(`${folder}/${name}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;
}

function kubeconfigOf(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'm',
    clusters: [{ name: 'm', cluster: { server } }],
    users: [{ name: 'm', user: { token: 't' } }],
    contexts: [{ name: 'm', context: { cluster: 'm', user: 'm' } }],
  });
}
