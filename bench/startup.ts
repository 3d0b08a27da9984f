// `npm run bench -- startup`: what the bundle costs before it does any work: times from process start, and the peak of resident memory (Linux).
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { startControlPlane } from '../test/support/control-plane/index.ts';
import { goodKinds } from './isolation/definitions.ts';
import { writeOperatorCopies } from './operator-copies.ts';

const usage = `npm run bench -- startup [options]
  --reps N          repetitions of each command, interleaved (default 9)
  --bundle FILE     default dist/homeostat.mjs
  --definitions N   of \`run\`, whose CRDs are served (default 10)
  --many N          definitions, copies of the operators, that \`validate\` checks (default 1000)
  --no-run          leaves \`run\` out, which needs a control plane
`;

const { values } = parseArgs({
  allowNegative: true,
  options: {
    reps: { type: 'string', default: '9' },
    bundle: { type: 'string', default: 'dist/homeostat.mjs' },
    definitions: { type: 'string', default: '10' },
    many: { type: 'string', default: '1000' },
    run: { type: 'boolean', default: true },
    help: { type: 'boolean', default: false },
  },
});
const reps = Number(values.reps);

interface Cost {
  readonly wallMs: number;
  readonly peakMiB: number;
}

async function bench(): Promise<void> {
  const many = Number(values.many);
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-copies-'));
  try {
    writeOperatorCopies(join(folder, 'copies'), many);
    await benchOn(join(folder, 'copies'), many);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function benchOn(copies: string, many: number): Promise<void> {
  const commands = {
    'node, empty script': ['-e', '0'],
    '--help': [values.bundle, '--help'],
    'validate podset.yaml': [values.bundle, 'validate', 'operators/podset.yaml'],
    'validate operators': [values.bundle, 'validate', 'operators'],
    'render podset.yaml': [
      ...[values.bundle, 'render', 'operators/podset.yaml', 'operators/samples/podset.yaml'],
    ],
    [`validate, ${many} definitions`]: [values.bundle, 'validate', copies],
  };
  const costs = new Map<string, Cost[]>();
  for (let rep = 0; rep < reps; rep += 1)
    for (const [name, args] of Object.entries(commands)) add(costs, name, costOf(args));
  if (values.run) {
    const count = Number(values.definitions);
    const name = `run, ${count} definitions, to the last one running`;
    for (const cost of await costsOfRun(count)) add(costs, name, cost);
  }
  console.log('| command | median ms | slowest ms | peak MiB |\n| --- | --- | --- | --- |');
  for (const [name, list] of costs) console.log(row(name, list));
}

function add(costs: Map<string, Cost[]>, name: string, cost: Cost): void {
  costs.set(name, [...(costs.get(name) ?? []), cost]);
}

function row(name: string, costs: readonly Cost[]): string {
  const times = costs.map(({ wallMs }) => wallMs).sort((a, b) => a - b);
  const peak = Math.max(...costs.map(({ peakMiB }) => peakMiB));
  const [median, slowest] = [times[Math.floor(times.length / 2)], times.at(-1)];
  return `| ${name} | ${median?.toFixed(0)} | ${slowest?.toFixed(0)} | ${peak.toFixed(0)} |`;
}

/** A process that tells its own peak as its last act. */
const tellPeak = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs';
   process.on('exit', () => writeSync(3, String(process.resourceUsage().maxRSS)));`,
)}`;

function costOf(args: readonly string[]): Cost {
  const startedMs = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  const wallMs = performance.now() - startedMs;
  if (status !== 0) throw new Error(`Expected exit code 0 of "${args.join(' ')}", found ${status}`);
  const ended = spawnSync(process.execPath, ['--import', tellPeak, ...args], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  return { wallMs, peakMiB: Number(ended.output[3]) / 1_024 };
}

/** On one control plane; the first run installs the CRDs and does not count. */
async function costsOfRun(count: number): Promise<readonly Cost[]> {
  const plane = await startControlPlane({ controllerManager: false });
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-startup-'));
  try {
    const definitions = join(folder, 'definitions');
    mkdirSync(definitions);
    for (const { name, text } of goodKinds(count))
      writeFileSync(join(definitions, `${name}.yaml`), text);
    const kubeconfig = plane.kubeconfigPath('operator');
    const args = ['run', '--definitions', definitions, '--kubeconfig', kubeconfig];
    const costs: Cost[] = [];
    for (let rep = 0; rep <= reps; rep += 1)
      costs.push(await costOfRun([...args, '--http', '127.0.0.1:0'], count));
    return costs.slice(1);
  } finally {
    rmSync(folder, { recursive: true });
    await plane.stop();
  }
}

async function costOfRun(args: readonly string[], count: number): Promise<Cost> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [values.bundle, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let running = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (JSON.parse(line).msg === 'Definition running') running += 1;
    if (running === count) break;
  }
  const cost = { wallMs: performance.now() - startedMs, peakMiB: peakOf(child.pid) };
  child.kill('SIGTERM');
  await ended;
  if (running < count) throw new Error(`Expected ${count} definitions to run, found ${running}`);
  return cost;
}

function peakOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1_024;
}

if (values.help) console.log(usage);
else await bench();
