// `npm run bench:history`: what it costs to record many ConfigMaps, on a real control plane: time, requests, memory, delay of the event loop.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type PlaneClient, startControlPlane } from '../test/support/control-plane/index.ts';
import { thing, thingDefinition } from '../test/support/definitions.ts';
import { HomeostatProcess } from '../test/support/homeostat-process.ts';
import { scrape, valueOfSamples } from '../test/support/scrape.ts';
import { inParallel } from './isolation/neighbours.ts';

const usage = `npm run bench:history -- [options]
  --objects N     ConfigMaps of 2 KiB (default 1000)
  --edits N       edits afterwards (default 500)
  --rate N        edits per second (default 50)
`;

const { values } = parseArgs({
  options: {
    objects: { type: 'string', default: '1000' },
    edits: { type: 'string', default: '500' },
    rate: { type: 'string', default: '50' },
    help: { type: 'boolean', default: false },
  },
});
const [objects, edits, rate] = [values.objects, values.edits, values.rate].map(Number) as [
  number,
  number,
  number,
];

const definition = thingDefinition(
  'journal',
  `  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { journal: "yes" } }, history: { keep: 3 } }
  status: { versions: "\${ $count(history) }" }
`,
);
const namespace = 'default';
const records = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;

function put(client: PlaneClient, index: number, turn: number) {
  const text = `${turn} `.padEnd(2_048, 'x');
  const metadata = { name: `config-${index}`, namespace, labels: { journal: 'yes' } };
  return client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text } });
}

/** Figures of the process. */
async function figuresOf(homeostat: HomeostatProcess) {
  const families = await scrape(homeostat);
  const lag = families.flatMap(({ samples }) =>
    samples.filter(({ name }) => name === 'nodejs_eventloop_lag_p99_seconds'),
  );
  const rss = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${homeostat.pid}/status`, 'utf8'));
  return {
    records: valueOfSamples(families, 'homeostat_history_records', {}),
    requests: valueOfSamples(families, 'rest_client_requests_total', {}),
    writes: valueOfSamples(families, 'homeostat_history_writes_total', {}),
    lagP99Ms: Math.round((lag[0]?.value ?? 0) * 1_000),
    heapMiB: Math.round(valueOfSamples(families, 'nodejs_heap_size_used_bytes', {}) / 2 ** 20),
    residentMiB: Math.round(Number(rss?.[1]) / 1024),
  };
}

async function untilRecords(homeostat: HomeostatProcess, count: number): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const { writes } = await figuresOf(homeostat);
    if (writes >= count) return performance.now() - startedAt;
    if (performance.now() - startedAt > 300_000) throw new Error(`Only ${writes} of ${count}`);
    await sleep(100);
  }
}

async function bench(): Promise<void> {
  const plane = await startControlPlane();
  const client = plane.client();
  const launch = () =>
    new HomeostatProcess({
      kubeconfig: plane.kubeconfigPath('operator'),
      definitions: { 'journal.yaml': definition },
    });
  let homeostat = launch();
  try {
    await homeostat.whenReady();
    const indexes = Array.from({ length: objects }, (_, index) => index);
    await inParallel(indexes, (index) => put(client, index, 0));
    await sleep(3_000);
    console.log('before', await figuresOf(homeostat));
    await client.apply(thing('journal', namespace, {}));
    const firstMs = await untilRecords(homeostat, objects);
    console.log(
      `${objects} objects recorded in ${Math.round(firstMs)} ms`,
      await figuresOf(homeostat),
    );
    await sleep(3_000);
    const before = await figuresOf(homeostat);
    const startedAt = performance.now();
    const pending: Promise<unknown>[] = [];
    for (let edit = 0; edit < edits; edit++) {
      await sleep(Math.max(0, startedAt + (edit * 1_000) / rate - performance.now()));
      pending.push(put(client, edit % objects, 1 + edit));
    }
    await Promise.all(pending);
    await untilRecords(homeostat, before.writes + edits);
    await sleep(2_000);
    const after = await figuresOf(homeostat);
    console.log(`${edits} edits at ${rate}/s`, after);
    console.log(`requests per edit: ${((after.requests - before.requests) / edits).toFixed(2)}`);
    const calm = await figuresOf(homeostat);
    await sleep(5_000);
    console.log(
      `requests in 5 s at rest: ${(await figuresOf(homeostat)).requests - calm.requests}`,
    );
    await homeostat.stop();
    homeostat = launch();
    await homeostat.whenReady();
    await sleep(10_000);
    console.log('after a restart', await figuresOf(homeostat));
    const stored = await client.list(records);
    const bytes = stored.reduce((sum, { data }) => sum + JSON.stringify(data).length, 0);
    console.log(`stored: ${stored.length} records, ${(bytes / 2 ** 20).toFixed(1)} MiB`);
  } finally {
    await homeostat.stop();
    await plane.stop();
  }
}

if (values.help) console.log(usage);
else await bench();
