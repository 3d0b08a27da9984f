// `npm run bench`: finds or builds what the rig needs, runs it and prints its table.
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBinaries } from '../test/support/control-plane/index.ts';
import { launch } from '../test/support/control-plane/supervised-process.ts';
import { makeTemporaryFolder } from '../test/support/control-plane/temporary-folder.ts';
import { BenchFailure } from './bench-failure.ts';
import { ensureGoProgram, goProgramOf } from './peer-binaries.ts';
import { recordWrites } from './recorded-writes.ts';
import { resultsPage } from './results-page.ts';

const usage = `npm run bench -- [options]
  --peers LIST      raw-node, raw-same, raw-go, raw-go-create, go, go-conditions, homeostat
                    (default: raw-node,go,go-conditions,homeostat; without raw-node with --count)
  --n N             resources (default 1000)
  --reps N          repetitions, interleaved (default 3; 1 with --count)
  --workloads LIST  W1,W2,W2b,W3,W4,W5 (default: all)
  --limit SECONDS   upper bound of each workload (default 600)
  --calm SECONDS    how long a peer must be idle before the next workload begins (default 4)
  --count           counts requests by the audit log (W6 and W7 too) in place of measuring times
  --definition FILE what homeostat serves (default: bench/rig/podset-definition.yaml)
  --bundle          measures dist/homeostat.mjs in place of bin/homeostat
  --write           writes bench/RESULTS.md
`;

const { values } = parseArgs({
  options: {
    peers: { type: 'string' },
    n: { type: 'string', default: '1000' },
    reps: { type: 'string' },
    workloads: { type: 'string' },
    limit: { type: 'string', default: '600' },
    calm: { type: 'string', default: '4' },
    definition: { type: 'string', default: pathOf('rig/podset-definition.yaml') },
    count: { type: 'boolean', default: false },
    bundle: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(usage);
else {
  try {
    await bench();
  } catch (error) {
    if (!(error instanceof BenchFailure)) throw error;
    console.error(`bench: ${error.message}`);
    process.exitCode = 1;
  }
}

async function bench(): Promise<void> {
  const operators = 'go,go-conditions,homeostat';
  // The raw peers only do the backlog, and nothing worth counting.
  const { count, peers = count ? operators : `raw-node,${operators}` } = values;
  const folder = await makeTemporaryFolder('homeostat-bench-');
  try {
    const table = await runRig({
      arguments: rigArguments(peers),
      environment: await rigEnvironment(peers.split(','), folder.path),
    });
    if (!values.write) return;
    const page = resultsPage({ arguments: process.argv.slice(2), table, date: new Date() });
    writeFileSync(pathOf('RESULTS.md'), page);
  } finally {
    await folder.remove();
  }
}

function rigArguments(peers: string): readonly string[] {
  const { n, limit, calm, count, reps = count ? '1' : '3', workloads } = values;
  return [
    ...['--peers', peers, '--n', n, '--reps', reps, '--limit', limit, '--calm', calm],
    // The rig adds to a file of that name; each run has its own, so that its table shows it alone.
    ...['--label', new Date().toISOString().slice(0, 19).replaceAll(':', '-')],
    ...(workloads === undefined ? [] : ['--workloads', workloads]),
    ...(count ? ['--count', '--count-n', String(Math.min(100, Number(n)))] : []),
  ];
}

/** Everything that the rig is told by environment variables. */
async function rigEnvironment(
  peers: readonly string[],
  folder: string,
): Promise<Record<string, string>> {
  const environment: Record<string, string> = {
    CONTROL_PLANE_BIN: folder,
    BENCH_TMP: folder,
    BENCH_RESULTS: pathOf('rig/results'),
    HOMEOSTAT_DEFINITION: values.definition,
  };
  if (peers.includes('homeostat')) environment.HOMEOSTAT_MAIN = homeostatMain();
  for (const [name, path] of Object.entries(await ensureBinaries(['etcd', 'kube-apiserver']))) {
    symlinkSync(path, join(folder, name));
  }
  if (peers.includes('raw-same')) environment.RAW_SAME_WRITES = await writeRecording(folder);
  for (const program of new Set(peers.map(goProgramOf).filter((name) => name !== undefined))) {
    environment[program] = await ensureGoProgram(program);
  }
  return environment;
}

function homeostatMain(): string {
  const path = pathOf(values.bundle ? '../dist/homeostat.mjs' : '../bin/homeostat');
  if (!existsSync(path)) throw new BenchFailure(`Expected ${path}; run npm run build first`);
  return path;
}

/** Records what Homeostat writes for a resource, for the peer that replays it. */
async function writeRecording(folder: string): Promise<string> {
  const main = homeostatMain();
  const command = values.bundle ? [process.execPath, main] : [main];
  const { definition } = values;
  const path = join(folder, 'recorded-writes.json');
  writeFileSync(path, JSON.stringify(await recordWrites({ command, definition, folder })));
  return path;
}

interface RigRun {
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Runs the rig, shows its output and returns the tables in it. */
async function runRig(run: RigRun): Promise<string> {
  let output = '';
  const rig = await launch({
    command: process.execPath,
    args: [pathOf('rig/run.mjs'), ...run.arguments],
    env: run.environment,
    keepsUsAlive: true,
    onOutput(text) {
      output += text;
      process.stdout.write(text);
    },
  });
  const { code, signal } = await rig.ended;
  if (code !== 0)
    throw new BenchFailure(`A peer failed, see above (the rig ended with ${signal ?? code})`);
  return output;
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
