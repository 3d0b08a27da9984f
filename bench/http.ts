// `npm run bench -- http`: what objects behind HTTP cost, on a real control plane: time, requests at rest, latency, memory.
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { HomeostatProcess } from '../test/support/homeostat-process.ts';
import { type CreationTimes, measureCreations } from './http/creations.ts';
import { measureDeadEndpoint } from './http/dead-endpoint.ts';
import { HttpStage } from './http/stage.ts';
import { memoryMiB } from './members/stage.ts';
import { provenance } from './results-page.ts';

const usage = `npm run bench -- http [options]
  --objects N     behind one endpoint (default 1000)
  --edits N       of one series of latencies (default 400)
  --reps N        series, in turns (default 2)
  --rest N        seconds at rest, in which each object is observed (default 60)
  --bundle FILE   runs the bundle (default: the source)
  --write         writes bench/RESULTS-http.md
`;

const { values } = parseArgs({
  options: {
    objects: { type: 'string', default: '1000' },
    edits: { type: 'string', default: '400' },
    reps: { type: 'string', default: '2' },
    rest: { type: 'string', default: '60' },
    bundle: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** One line of the result. */
interface Figure {
  readonly what: string;
  /** Undefined: for comparison only. */
  readonly target?: string;
  readonly value: string;
  readonly isMet?: boolean;
}

class HttpBench {
  readonly #stage: HttpStage;
  readonly figures: Figure[] = [];

  constructor(stage: HttpStage) {
    this.#stage = stage;
  }

  async run(): Promise<void> {
    const [count, edits, reps, restSeconds] = [
      values.objects,
      values.edits,
      values.reps,
      values.rest,
    ].map(Number) as [number, number, number, number];
    const withoutMiB = await this.#memoryWithout();
    const homeostat = await this.#stage.launch();
    try {
      // Each object is observed within the time at rest.
      const every = `${Math.max(10, Math.floor(restSeconds / 2))}s`;
      this.#addCreations(await measureCreations(this.#stage, homeostat, { count, every }), count);
      await this.#rest(restSeconds, count);
      this.#addMemory(homeostat, withoutMiB, count);
    } finally {
      await homeostat.stop();
    }
    await this.#deadEndpoint({ edits, reps, ready: count });
  }

  async #memoryWithout(): Promise<number> {
    const homeostat = await this.#stage.launchWithout();
    try {
      await this.#stage.untilIdle();
      return memoryMiB(homeostat, 'VmHWM');
    } finally {
      await homeostat.stop();
    }
  }

  #addCreations(times: CreationTimes, count: number): void {
    const { homeostatMs, loopMs, apiMs, requests } = times;
    const ratio = homeostatMs / loopMs;
    const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
    this.#add({
      what: `${count} creations, against a loop that sends the same requests to both servers`,
      target: 'at most 1.3 times',
      value: `${ratio.toFixed(2)} times: ${seconds(homeostatMs)} and ${seconds(loopMs)}`,
      isMet: ratio <= 1.3,
    });
    this.#add({ what: 'a loop that sends nothing to Kubernetes', value: seconds(apiMs) });
    const each = Object.entries(requests).map(
      ([name, total]) => `${(total / count).toFixed(2)} ${name}`,
    );
    this.#add({ what: 'requests to Kubernetes for each creation', value: each.join(', ') });
  }

  async #rest(seconds: number, count: number): Promise<void> {
    const { audit, api } = this.#stage;
    await this.#stage.untilIdle();
    const [mark, before] = [audit.mark(), api.requests];
    await sleep(seconds * 1_000);
    const requests = audit.atRest({ since: mark }).length;
    const looks = api.requests - before;
    this.#add({
      what: `requests to Kubernetes at rest, in ${seconds} s with ${looks} observations of ${count} objects`,
      ...{ target: '0', value: String(requests), isMet: requests === 0 && looks >= count },
    });
  }

  #addMemory(homeostat: HomeostatProcess, withoutMiB: number, count: number): void {
    const peakMiB = memoryMiB(homeostat, 'VmHWM');
    const more = peakMiB - withoutMiB;
    this.#add({
      what: `peak memory of ${count} objects above a runtime without them`,
      target: 'below 60 MiB',
      value: `${more.toFixed(0)} MiB: ${peakMiB.toFixed(0)} and ${withoutMiB.toFixed(0)} MiB`,
      isMet: more < 60,
    });
  }

  async #deadEndpoint(options: Parameters<typeof measureDeadEndpoint>[1]): Promise<void> {
    const { alone, besideDead } = await measureDeadEndpoint(this.#stage, options);
    const ratio = shareOf(besideDead, 0.99) / shareOf(alone, 0.99);
    const both = (share: number) =>
      [besideDead, alone].map((all) => shareOf(all, share).toFixed(1)).join(' and ');
    this.#add({
      what: 'p99 of edits of 20 healthy endpoints, beside a dead endpoint and alone',
      target: 'at most 1.1 times',
      value: `${ratio.toFixed(2)} times: ${both(0.99)} ms (p50: ${both(0.5)} ms)`,
      isMet: ratio <= 1.1,
    });
  }

  #add(figure: Figure): void {
    this.figures.push(figure);
    const { what, target, value, isMet } = figure;
    const verdict = isMet === undefined ? 'beside' : isMet ? 'met' : 'MISSED';
    console.log(`${verdict}: ${what}: ${value}${target === undefined ? '' : ` (${target})`}`);
  }
}

function shareOf(ascending: readonly number[], share: number): number {
  return ascending[Math.floor(ascending.length * share)] ?? Number.NaN;
}

/** Whether other programs shared the cores, by the load before the measurement. */
function loadLine(load: number): string {
  const isIdle = load < 0.5;
  const text = `load average before the run: ${load.toFixed(1)} on ${cpus().length} cores`;
  return isIdle
    ? `- ${text}`
    : `- ${text}: **the machine was not idle**: times are those of a shared machine, and ratios of p99 say little`;
}

function page(figures: readonly Figure[], load: number): string {
  const command = ['npm run bench -- http', ...process.argv.slice(2)].join(' ');
  const rows = figures.map(({ what, target, value, isMet }) => {
    const verdict = isMet === undefined ? '' : isMet ? 'yes' : 'no';
    return `| ${what} | ${target ?? ''} | ${value} | ${verdict} |`;
  });
  return [
    '# Objects behind HTTP: what they cost',
    '',
    'Written by the bench, see [README.md](README.md#objects-behind-http).',
    '',
    ...provenance(command, new Date()),
    loadLine(load),
    '',
    '| what | target | found | met |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

async function bench(): Promise<void> {
  if (values.bundle !== undefined) process.env.HOMEOSTAT_TEST_EXECUTABLE = values.bundle;
  const [load = 0] = loadavg();
  const stage = await HttpStage.start();
  const http = new HttpBench(stage);
  try {
    await http.run();
  } finally {
    await stage.stop();
  }
  if (values.write)
    writeFileSync(new URL('RESULTS-http.md', import.meta.url), page(http.figures, load));
}

if (values.help) console.log(usage);
else await bench();
