import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';
import { etcdVersion, kubernetesVersion } from '../test/support/control-plane/versions.ts';

export interface ResultsPageOptions {
  /** The arguments the bench was called with. */
  readonly arguments: readonly string[];
  /** What the rig printed. */
  readonly table: string;
  readonly date: Date;
}

/** The text of `RESULTS.md`: what was measured, on what, and the table. */
export function resultsPage(options: ResultsPageOptions): string {
  const command = ['npm run bench --', ...options.arguments].join(' ');
  return [
    '# Benchmark results',
    '',
    'Written by the bench, see [README.md](README.md); what is measured and how: [rig/README.md](rig/README.md).',
    '',
    ...provenance(command, options.date),
    '',
    'Times in seconds, latencies in milliseconds, memory in MiB; median (lowest to highest) of the runs.',
    '',
    options.table.trim(),
    '',
  ].join('\n');
}

/** What a page of results says of where they come from. */
export function provenance(command: string, date: Date): readonly string[] {
  return [
    `- date: ${date.toISOString().slice(0, 10)}`,
    `- command: \`${command}\``,
    `- Homeostat: ${revision()}`,
    `- versions: Kubernetes ${kubernetesVersion}, etcd ${etcdVersion}, Node ${process.version}`,
    `- machine: ${machine()}`,
  ];
}

function machine(): string {
  const cores = cpus();
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  return `${cores.length} x ${cores[0]?.model.trim() ?? 'CPU'}, ${memoryGiB} GiB, ${type()} ${release()}`;
}

/** The commit, with a plus sign when the checkout differs from it. */
function revision(): string {
  const root = new URL('..', import.meta.url);
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
  return `${git('rev-parse', '--short', 'HEAD')}${isChanged ? '+' : ''}`;
}
