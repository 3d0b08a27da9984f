// `npm run bench -- conversion`: what conversions cost, alone and through a real API server.
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { benchLatency, type LatencyResult } from './conversion/latency.ts';
import { benchLists, type ListResult } from './conversion/lists.ts';
import { benchRules, prove, type RulesResult } from './conversion/rules.ts';
import { startStage } from './conversion/stage.ts';
import { benchWrites, columns, type WriteResult } from './conversion/writes.ts';
import { provenance } from './results-page.ts';

const usage = `npm run bench -- conversion [options]
  --only PARTS    rules,proof,lists,latency,writes (default all)
  --objects N     random objects of the proof (default 100000)
  --listed N      objects of the lists (default 10000)
  --rounds N      lists of each version, in turns (default 10)
  --requests N    conversions of one object (default 3000)
  --bundle FILE   runs the bundle (default: the source)
  --write         writes bench/RESULTS-conversion.md
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'rules,proof,lists,latency,writes' },
    objects: { type: 'string', default: '100000' },
    listed: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '10' },
    requests: { type: 'string', default: '3000' },
    bundle: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function bench(): Promise<void> {
  if (values.bundle !== undefined) process.env.HOMEOSTAT_TEST_EXECUTABLE = values.bundle;
  const parts = new Set(values.only.split(','));
  const sections: string[] = [];
  const add = (section: string) => {
    console.log(`${section}\n`);
    sections.push(section, '');
  };
  if (parts.has('rules')) add(rulesTable(benchRules()));
  if (parts.has('proof')) add(`${prove(Number(values.objects))}.`);
  if (['writes', 'latency', 'lists'].some((part) => parts.has(part))) {
    const stage = await startStage();
    try {
      if (parts.has('writes')) add(writesTable(await benchWrites(stage)));
      const requests = Number(values.requests);
      if (parts.has('latency'))
        add(latencyTable(await benchLatency(stage, { requests, resources: 1_000 })));
      const [objects, rounds] = [Number(values.listed), Number(values.rounds)];
      if (parts.has('lists'))
        add(listsTable(await benchLists(stage, { objects, rounds }), objects));
    } finally {
      await stage.stop();
    }
  }
  if (values.write) writeFileSync(pathOf('RESULTS-conversion.md'), page(sections));
}

function rulesTable(results: readonly RulesResult[]): string {
  const rows = results.map(
    ({ what, perSecond, p50Us, p99Us }) =>
      `| ${what} | ${perSecond.toFixed(0)} | ${p50Us.toFixed(0)} | ${p99Us.toFixed(0)} |`,
  );
  return [
    '## One object, without a server',
    '',
    '| object | a second of CPU | p50, µs | p99, µs |',
    '| --- | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
}

function writesTable(results: readonly WriteResult[]): string {
  const rows = results.map(
    ({ write, calls }) => `| ${write} | ${columns.map((column) => calls[column]).join(' | ')} |`,
  );
  return [
    '## Requests to the webhook for each write',
    '',
    'Of a kind with two served versions. One of them is that of the watch cache of the version that is not stored, which converts each event.',
    '',
    `| | ${columns.join(' | ')} |`,
    `| --- |${' ---: |'.repeat(columns.length)}`,
    ...rows,
  ].join('\n');
}

function latencyTable(results: readonly LatencyResult[]): string {
  const bytes = results[0]?.bytes ?? 0;
  const rows = results.map(
    ({ beside, p50Ms, p99Ms, bare, editsPerSecond }) =>
      `| ${beside} | ${editsPerSecond.toFixed(0)} | ${p50Ms.toFixed(2)} | ${bare.p50Ms.toFixed(2)} | ${p99Ms.toFixed(2)} | ${bare.p99Ms.toFixed(2)} | ${p99Ms < 5 ? 'yes' : 'no'} |`,
  );
  return [
    '## One conversion over HTTPS',
    '',
    `An object of ${bytes} bytes, from its request to its response, on a connection that is kept. "Bare" is a webhook that parses a review and returns its objects; requests to both are in turns. The API server, etcd and the runtime share the cores, with whatever else runs: load average ${loadavg()[0]?.toFixed(1)} at the end.`,
    '',
    '| beside | edits of resources a second | p50, ms | p50, bare | p99, ms | p99, bare | p99 below 5 ms |',
    '| --- | ---: | ---: | ---: | ---: | ---: | --- |',
    ...rows,
  ].join('\n');
}

const titles = {
  cache: 'from the watch cache',
  first: 'the first one, while the API server fills its caches',
} as const;

function listsTable(results: readonly ListResult[], objects: number): string {
  const rows = results.map(({ kind, storedMs, otherMs, bareMs, calls }) => {
    const ratio = medianOf(otherMs) / medianOf(storedMs);
    return `| ${titles[kind]} | ${spread(storedMs)} | ${spread(otherMs)} | ${bareMs.length === 0 ? '' : spread(bareMs)} | ${ratio.toFixed(2)} | ${ratio <= 2 ? 'yes' : 'no'} | ${calls} |`;
  });
  const mib = (results[0]?.bytes ?? 0) / 2 ** 20;
  return [
    `## A list of ${objects} objects (${mib.toFixed(1)} MiB)`,
    '',
    'Milliseconds: median (lowest to highest) of lists in turns. While it fills the cache of a version, the API server sends each object to the webhook in a request of its own, one after the other; afterwards, lists are read from that cache.',
    '',
    '| list | stored version | other version | other version, bare webhook | ratio | at most 2 | requests to the webhook |',
    '| --- | ---: | ---: | ---: | ---: | --- | ---: |',
    ...rows,
  ].join('\n');
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

function spread(numbers: readonly number[]): string {
  const [median, low, high] = [medianOf(numbers), Math.min(...numbers), Math.max(...numbers)];
  return `${median.toFixed(0)} (${low.toFixed(0)} to ${high.toFixed(0)})`;
}

function page(sections: readonly string[]): string {
  const command = ['npm run bench -- conversion', ...process.argv.slice(2)].join(' ');
  return [
    '# Conversions between versions: what they cost',
    '',
    'Written by the bench, see [README.md](README.md#conversion).',
    '',
    ...provenance(command, new Date()),
    '',
    ...sections,
  ].join('\n');
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

if (values.help) console.log(usage);
else await bench();
