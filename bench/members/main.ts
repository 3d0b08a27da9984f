// `npm run bench -- members`: what member clusters cost, on real API servers.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { provenance } from '../results-page.ts';
import { benchHostile, type HostileResult } from './hostile.ts';
import { benchIdle, type IdleResult } from './idle.ts';
import { benchSpread, type SpreadResult } from './spread.ts';
import { startStage } from './stage.ts';
import { benchUnreachable, type LatencyResult } from './unreachable.ts';

const usage = `npm run bench -- members [options]
  --members N     API servers beside that of the hub (default 10)
  --resources N   in one cluster, and spread over the members (default 10000)
  --edits N       of one series of latencies (default 400)
  --idle N        connected members with nothing selected, played by one process (default 300)
  --reps N        in turns (default 2)
  --only PARTS    spread,unreachable,hostile,idle (default all)
  --bundle FILE   runs the bundle (default: the source)
  --write         writes RESULTS-members.md
`;

const { values } = parseArgs({
  options: {
    members: { type: 'string', default: '10' },
    resources: { type: 'string', default: '10000' },
    edits: { type: 'string', default: '400' },
    idle: { type: 'string', default: '300' },
    reps: { type: 'string', default: '2' },
    only: { type: 'string', default: 'spread,unreachable,hostile,idle' },
    bundle: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function bench(): Promise<void> {
  if (values.bundle !== undefined) process.env.HOMEOSTAT_TEST_EXECUTABLE = values.bundle;
  const [members, resources, edits, reps, idle] = [
    values.members,
    values.resources,
    values.edits,
    values.reps,
    values.idle,
  ].map(Number) as [number, number, number, number, number];
  const parts = new Set(values.only.split(','));
  const needed = parts.has('spread') || parts.has('unreachable') ? members : 1;
  const stage = await startStage(needed);
  const sections: string[] = [];
  const add = (section: string) => {
    console.log(section);
    sections.push(section, '');
  };
  try {
    if (parts.has('spread'))
      add(spreadTable(await benchSpread(stage, { resources, reps }), { members, resources }));
    if (parts.has('unreachable'))
      add(latencyTable(await benchUnreachable(stage, { edits, reps }), members));
    if (parts.has('hostile')) add(hostileTable(await benchHostile(stage, { edits, reps })));
    if (parts.has('idle')) add(idleTable(await benchIdle(stage.hub, idle)));
  } finally {
    await stage.stop();
  }
  if (values.write)
    writeFileSync(new URL('../RESULTS-members.md', import.meta.url), page(sections));
}

function spreadTable(
  results: readonly SpreadResult[],
  { members, resources }: { readonly members: number; readonly resources: number },
): string {
  const secondsOf = (where: SpreadResult['where']) =>
    medianOf(results.filter((each) => each.where === where).map(({ seconds }) => seconds));
  const rows = results.map(
    ({ where, seconds, peakMiB }) => `| ${where} | ${seconds.toFixed(1)} | ${peakMiB.toFixed(0)} |`,
  );
  const ratio = secondsOf('members') / secondsOf('one cluster');
  return [
    `## ${resources} resources, in one cluster and in ${members} members`,
    '',
    'From the start of the process until every resource has its child and is ready. All API servers run during both.',
    '',
    '| where | seconds | peak memory, MiB |',
    '| --- | --- | --- |',
    ...rows,
    '',
    `Ratio of the medians: ${ratio.toFixed(2)} (target: at most 1.15; peak below 380 MiB).`,
  ].join('\n');
}

function latencyTable(results: readonly LatencyResult[], members: number): string {
  const row = (name: string, all: readonly number[]) =>
    `| ${name} | ${all.length} | ${shareOf(all, 0.5).toFixed(1)} | ${shareOf(all, 0.99).toFixed(1)} |`;
  const allOf = (last: LatencyResult['last']) =>
    results
      .filter((each) => each.last === last)
      .flatMap(({ latenciesMs }) => latenciesMs)
      .sort((a, b) => a - b);
  const states = ['reachable', 'frozen', 'stopped'] as const;
  const ratioOf = (last: LatencyResult['last']) =>
    (shareOf(allOf(last), 0.99) / shareOf(allOf('reachable'), 0.99)).toFixed(2);
  return [
    '## One unreachable member',
    '',
    `From an edit in one of ${members - 1} members until its child has changed, while one more member is in this state.`,
    '',
    '| the other member | edits | p50, ms | p99, ms |',
    '| --- | --- | --- | --- |',
    ...results.map(({ last, latenciesMs }) => row(last, latenciesMs)),
    ...states.map((last) => row(`all ${last}`, allOf(last))),
    '',
    `Ratio of p99 of all: ${ratioOf('frozen')} frozen, ${ratioOf('stopped')} stopped (target: at most 1.1).`,
  ].join('\n');
}

function hostileTable(results: readonly HostileResult[]): string {
  const all = (others: HostileResult['others'], of: 'latenciesMs' | 'probesMs') =>
    results
      .filter((each) => each.others === others)
      .flatMap((each) => each[of])
      .sort((a, b) => a - b);
  const row = (others: HostileResult['others']) => {
    const [edits, probes] = [all(others, 'latenciesMs'), all(others, 'probesMs')];
    const figures = [shareOf(edits, 0.5), shareOf(edits, 0.99), probes.at(-1) ?? Number.NaN];
    return `| ${others} | ${edits.length} | ${figures.map((ms) => ms.toFixed(1)).join(' | ')} |`;
  };
  const p99 = (others: HostileResult['others']) => shareOf(all(others, 'latenciesMs'), 0.99);
  const ratio = (p99('three hostile') / p99('none')).toFixed(2);
  return [
    '## Three hostile members',
    '',
    'From an edit in a healthy member until its child has changed. The others send 16 MiB as their version, events without a pause, lines without an end, and values nested deep; or they respond byte by byte. The heap has 358 MiB.',
    '',
    '| others | edits | p50, ms | p99, ms | slowest /healthz, ms |',
    '| --- | --- | --- | --- | --- |',
    row('none'),
    row('three hostile'),
    '',
    `Ratio of p99: ${ratio} (target: at most 1.2; /healthz below 1,000 ms).`,
  ].join('\n');
}

function idleTable({ members, memberMiB, sockets, cpu }: IdleResult): string {
  return [
    `## ${members} connected members with nothing selected`,
    '',
    '| for each member | | target |',
    '| --- | --- | --- |',
    `| memory | ${memberMiB.toFixed(2)} MiB | < 0.5 MiB |`,
    `| sockets | ${sockets.toFixed(2)} | 2 |`,
    '',
    `CPU at rest, of all: ${(cpu * 100).toFixed(1)} % of a core (target: < 1 %).`,
  ].join('\n');
}

function shareOf(ascending: readonly number[], share: number): number {
  return ascending[Math.floor(ascending.length * share)] ?? Number.NaN;
}

function medianOf(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

function page(sections: readonly string[]): string {
  const command = ['npm run bench -- members', ...process.argv.slice(2)].join(' ');
  return [
    '# Member clusters',
    '',
    'Written by the bench, see [README.md](README.md#member-clusters).',
    '',
    ...provenance(command, new Date()),
    '',
    ...sections,
  ].join('\n');
}

if (values.help) console.log(usage);
else await bench();
