// `npm run bench -- history`: what it costs to record many ConfigMaps, on a real control plane: time, requests, memory, delay of the event loop.
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ProcessProbe, probeEnvironment } from '../test/faults/process-probe.ts';
import {
  AuditLog,
  type ControlPlane,
  type PlaneClient,
  startControlPlane,
} from '../test/support/control-plane/index.ts';
import { thing, thingDefinition } from '../test/support/definitions.ts';
import { HomeostatProcess } from '../test/support/homeostat-process.ts';
import { scrape } from '../test/support/scrape.ts';
import { inParallel } from './isolation/neighbours.ts';
import { provenance } from './results-page.ts';

const usage = `npm run bench -- history [options]
  --objects N     ConfigMaps of 2 KiB (default 1000)
  --edits N       edits afterwards (default 1500)
  --rate N        edits per second (default 50)
  --write         writes bench/RESULTS-history.md
`;

const { values } = parseArgs({
  options: {
    objects: { type: 'string', default: '1000' },
    edits: { type: 'string', default: '1500' },
    rate: { type: 'string', default: '50' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const namespace = 'default';
const keep = 3;
const records = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;
const limitMs = 300_000;
/** A process that has started has come to rest by then. */
const restMs = 8_000;

/** The same read with and without `history`. */
function definitionWith(hasHistory: boolean): string {
  const history = hasHistory ? `, history: { keep: ${keep} }` : '';
  const counted = hasHistory ? 'history' : 'reads.configs';
  return thingDefinition(
    'journal',
    `  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { journal: "yes" } }${history} }
  status: { versions: "\${ $count(${counted}) }" }
`,
  );
}

/** One line of the result. */
interface Figure {
  readonly what: string;
  readonly target: string;
  readonly value: string;
  readonly isMet: boolean;
}

class HistoryBench {
  readonly #plane: ControlPlane;
  readonly #client: PlaneClient;
  readonly #audit: AuditLog;
  readonly #figures: Figure[] = [];

  constructor(plane: ControlPlane) {
    this.#plane = plane;
    this.#client = plane.client();
    this.#audit = new AuditLog(plane);
  }

  async run(objects: number, edits: number, rate: number): Promise<readonly Figure[]> {
    const metadata = { name: 'homeostat-system' };
    await this.#client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
    const indexes = Array.from({ length: objects }, (_, index) => index);
    await inParallel(indexes, (index) => this.#put(index, 0));
    await this.#with(definitionWith(true), async (homeostat) => {
      await this.#recordAll(objects);
      await this.#edit(homeostat, { indexes, edits, rate });
      await this.#trim(indexes.slice(0, 40));
      await this.#rest('at rest, in 5 s', 5_000);
    });
    const withHistory = await this.#with(definitionWith(true), async (homeostat) => {
      await this.#rest('after a restart', restMs);
      return heapOf(homeostat);
    });
    const without = await this.#with(definitionWith(false), async (homeostat) => {
      await sleep(restMs);
      return heapOf(homeostat);
    });
    await this.#memory(withHistory - without);
    return this.#figures;
  }

  async #recordAll(objects: number): Promise<void> {
    const mark = this.#audit.mark();
    const startedAt = performance.now();
    await this.#client.apply(thing('journal', namespace, {}));
    await this.#untilWrites(objects, mark);
    const seconds = (performance.now() - startedAt) / 1_000;
    this.#add(
      `${objects} ConfigMaps recorded`,
      'at most 20 s',
      `${seconds.toFixed(1)} s`,
      seconds <= 20,
    );
    await sleep(3_000);
  }

  /** Edits all objects in turn, at a fixed pace. */
  async #edit(
    homeostat: HomeostatProcess,
    { indexes, edits, rate }: { indexes: readonly number[]; edits: number; rate: number },
  ): Promise<void> {
    // A scrape begins the next one's figures.
    await lagP99Ms(homeostat);
    const mark = this.#audit.mark();
    const startedAt = performance.now();
    const pending: Promise<unknown>[] = [];
    for (let edit = 0; edit < edits; edit++) {
      await sleep(Math.max(0, startedAt + (edit * 1_000) / rate - performance.now()));
      pending.push(this.#put(indexes[edit % indexes.length] ?? 0, 1 + edit));
    }
    await Promise.all(pending);
    await this.#untilWrites(edits, mark);
    const lagMs = await lagP99Ms(homeostat);
    const what = `event-loop p99 at ${rate} changes a second`;
    this.#add(what, 'below 20 ms', `${lagMs.toFixed(1)} ms`, lagMs < 20);
    await sleep(2_000);
    const requests = this.#requests(mark) / edits;
    this.#add('requests for each change', '1', requests.toFixed(3), requests <= 1);
  }

  /** Edits few objects until each change makes an older version surplus. */
  async #trim(indexes: readonly number[]): Promise<void> {
    const round = async (turn: number) => {
      const mark = this.#audit.mark();
      await inParallel(indexes, (index) => this.#put(index, turn));
      await this.#untilWrites(indexes.length, mark);
      await sleep(1_000);
      return this.#requests(mark) / indexes.length;
    };
    for (let turn = 1; turn <= keep + 1; turn++) await round(-turn);
    const requests = await round(-100);
    this.#add('requests for each change beyond `keep`', '2', requests.toFixed(3), requests <= 2);
  }

  async #rest(when: string, ms: number): Promise<void> {
    const mark = this.#audit.mark();
    await sleep(ms);
    const requests = this.#requests(mark);
    this.#add(`requests ${when}`, '0', String(requests), requests === 0);
  }

  async #memory(heapBytes: number): Promise<void> {
    const stored = await this.#client.list(records);
    const bytes = stored.reduce((sum, { data }) => sum + JSON.stringify(data).length, 0);
    const times = heapBytes / bytes;
    const value = `${times.toFixed(2)} times: ${mebibytes(heapBytes)} for ${stored.length} versions of ${mebibytes(bytes)}`;
    this.#add('heap of the versions', 'at most 2 times their bytes', value, times <= 2);
  }

  /** Requests about versions or recorded objects, without lists and watches. */
  #requests(since: number): number {
    return this.#audit
      .entries({ since })
      .filter(({ resource }) => ['controllerrevisions', 'configmaps'].includes(resource))
      .filter(({ verb }) => verb !== 'list' && verb !== 'watch').length;
  }

  async #untilWrites(count: number, since: number): Promise<void> {
    const startedAt = performance.now();
    const written = () =>
      this.#audit.entries({ since }).filter(({ verb, resource }) => {
        return resource === 'controllerrevisions' && ['create', 'patch'].includes(verb);
      }).length;
    while (written() < count) {
      if (performance.now() - startedAt > limitMs)
        throw new Error(`Only ${written()} of ${count} versions`);
      await sleep(50);
    }
  }

  #put(index: number, turn: number) {
    const text = `${turn} `.padEnd(2_048, 'x');
    const metadata = { name: `config-${index}`, namespace, labels: { journal: 'yes' } };
    return this.#client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text } });
  }

  async #with<Result>(
    definition: string,
    work: (homeostat: HomeostatProcess) => Promise<Result>,
  ): Promise<Result> {
    const homeostat = new HomeostatProcess({
      kubeconfig: this.#plane.kubeconfigPath('operator'),
      definitions: { 'journal.yaml': definition },
      env: probeEnvironment,
    });
    try {
      await homeostat.whenReady();
      return await work(homeostat);
    } finally {
      await homeostat.stop();
    }
  }

  #add(what: string, target: string, value: string, isMet: boolean): void {
    this.#figures.push({ what, target, value, isMet });
    console.log(`${isMet ? 'met' : 'MISSED'}: ${what}: ${value} (target: ${target})`);
  }
}

/** Bytes on the heap after a collection. */
async function heapOf(homeostat: HomeostatProcess): Promise<number> {
  const probe = await ProcessProbe.attach(homeostat);
  try {
    return await probe.heapBytes();
  } finally {
    probe.close();
  }
}

/** Since the last scrape. */
async function lagP99Ms(homeostat: HomeostatProcess): Promise<number> {
  // The figures of a scrape are a second old at most.
  await sleep(1_100);
  const families = await scrape(homeostat);
  const [lag] = families.flatMap(({ samples }) =>
    samples.filter(({ name }) => name === 'nodejs_eventloop_lag_p99_seconds'),
  );
  return (lag?.value ?? Number.NaN) * 1_000;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function page(figures: readonly Figure[]): string {
  const command = ['npm run bench -- history', ...process.argv.slice(2)].join(' ');
  const rows = figures.map(({ what, target, value, isMet }) => {
    return `| ${what} | ${target} | ${value} | ${isMet ? 'yes' : 'no'} |`;
  });
  return [
    '# History of reads: what it costs to record',
    '',
    'Written by the bench, see [README.md](README.md#history).',
    '',
    ...provenance(command, new Date()),
    '',
    '| what | target | found | met |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

async function bench(): Promise<void> {
  const [objects, edits, rate] = [values.objects, values.edits, values.rate].map(Number) as [
    number,
    number,
    number,
  ];
  const plane = await startControlPlane({ audit: true });
  try {
    const figures = await new HistoryBench(plane).run(objects, edits, rate);
    const file = fileURLToPath(new URL('RESULTS-history.md', import.meta.url));
    if (values.write) writeFileSync(file, page(figures));
  } finally {
    await plane.stop();
  }
}

if (values.help) console.log(usage);
else await bench();
