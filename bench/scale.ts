// `npm run bench -- scale`: many resources: of one definition, spread over 50 definitions, and with four children each.
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type ControlPlane, startControlPlane } from '../test/support/control-plane/index.ts';
import {
  type BenchKind,
  bodyOf,
  collectionOf,
  kindOf,
  namespace,
} from './isolation/definitions.ts';
import { inParallel } from './isolation/neighbours.ts';
import { cpuMs, kindNamed, launch, memoryMiB, untilMetric } from './members/stage.ts';
import { provenance } from './results-page.ts';

const usage = `npm run bench -- scale [options]
  --resources N    of each run (default 10000)
  --definitions N  over which they are spread in the second run (default 50)
  --reps N         in turns (default 1)
  --only RUNS      one,spread,children (default all)
  --bundle FILE    default dist/homeostat.mjs
  --write          writes RESULTS-scale.md
`;

const { values } = parseArgs({
  options: {
    resources: { type: 'string', default: '10000' },
    definitions: { type: 'string', default: '50' },
    reps: { type: 'string', default: '1' },
    only: { type: 'string', default: 'one,spread,children' },
    bundle: { type: 'string', default: 'dist/homeostat.mjs' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface ScaleResult {
  readonly run: string;
  /** From the start of the process until every resource is ready. */
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMiB: number;
  /** Some time after all are ready. */
  readonly restMiB: number;
}

/** Precision of the time. More often, the rendering of the metrics of 50 definitions would be a tenth of the CPU time. */
const scrapeMs = 3_000;
/** The heap has been collected by then. */
const restMs = 10_000;

/** As an application has them. The Deployment counts as ready: no controller works on it. */
const fourChildren = `  children:
    - id: settings
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { value: "\${ spec.value }" }
    - id: account
      template: { apiVersion: v1, kind: ServiceAccount, metadata: { name: "\${ metadata.name }" } }
    - id: service
      template:
        apiVersion: v1
        kind: Service
        metadata: { name: "\${ metadata.name }" }
        spec: { clusterIP: None, selector: { app: "\${ metadata.name }" }, ports: [{ name: http, port: 80 }] }
    - id: workload
      ready: "\${ true }"
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata: { labels: { app: "\${ metadata.name }" } }
            spec:
              serviceAccountName: "\${ metadata.name }"
              containers: [{ name: main, image: busybox, ports: [{ containerPort: 80 }] }]
`;

async function bench(): Promise<void> {
  process.env.HOMEOSTAT_TEST_EXECUTABLE = values.bundle;
  const kindsOf: Readonly<Record<string, () => readonly BenchKind[]>> = {
    one: () => [kindNamed('one')],
    spread: () =>
      Array.from({ length: Number(values.definitions) }, (_, index) => kindNamed(`many-${index}`)),
    children: () => [kindOf('four', fourChildren)],
  };
  const results: ScaleResult[] = [];
  for (let rep = 0; rep < Number(values.reps); rep++) {
    for (const run of values.only.split(',')) {
      const kinds = kindsOf[run]?.();
      if (kinds === undefined) throw new Error(`--only ${run} is none of one, spread, children`);
      results.push(await measure(run, kinds, Number(values.resources)));
      console.log(tableOf(results.slice(-1)));
    }
  }
  const table = tableOf(results);
  console.log(table);
  if (values.write) writeFileSync(new URL('RESULTS-scale.md', import.meta.url), page(table));
}

/** One run on a control plane of its own. The resources exist when the process starts. */
async function measure(
  run: string,
  kinds: readonly BenchKind[],
  resources: number,
): Promise<ScaleResult> {
  const plane = await startControlPlane({ controllerManager: false });
  try {
    await prepare(plane, kinds, resources);
    const startMs = performance.now();
    const homeostat = launch(plane, kinds);
    try {
      // Of all definitions in one request: their pages are long.
      await untilMetric(homeostat, 'homeostat_resources', resources, { ready: 'True' }, scrapeMs);
      const seconds = (performance.now() - startMs) / 1_000;
      const cpuSeconds = cpuMs(homeostat) / 1_000;
      await sleep(restMs);
      const [peakMiB, restMiB] = [memoryMiB(homeostat, 'VmHWM'), memoryMiB(homeostat, 'VmRSS')];
      return { run, seconds, cpuSeconds, peakMiB, restMiB };
    } finally {
      await homeostat.stop();
    }
  } finally {
    await plane.stop();
  }
}

/** Installs the kinds, and creates the resources while no process serves them. */
async function prepare(
  plane: ControlPlane,
  kinds: readonly BenchKind[],
  resources: number,
): Promise<void> {
  const client = plane.client();
  await client.create('/api/v1/namespaces', { metadata: { name: namespace } });
  const first = launch(plane, kinds);
  for (const { group } of kinds) await client.untilList(`/apis/${group}/v1/things`, () => true);
  await first.stop();
  const all = Array.from({ length: resources }, (_, index) => index);
  await inParallel(all, (index) => {
    const kind = kinds[index % kinds.length] as BenchKind;
    return client.create(collectionOf(kind), bodyOf(kind, `${kind.name}-${index}`, 'a'));
  });
}

function tableOf(results: readonly ScaleResult[]): string {
  const rows = results.map(
    ({ run, seconds, cpuSeconds, peakMiB, restMiB }) =>
      `| ${run} | ${seconds.toFixed(1)} | ${cpuSeconds.toFixed(1)} | ${peakMiB.toFixed(0)} | ${restMiB.toFixed(0)} |`,
  );
  return [
    '| run | seconds | CPU s | peak MiB | at rest MiB |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function page(table: string): string {
  const command = ['npm run bench -- scale', ...process.argv.slice(2)].join(' ');
  return [
    '# Many resources',
    '',
    'Written by the bench, see [README.md](README.md#scale).',
    '',
    ...provenance(command, new Date()),
    '',
    `${values.resources} resources that exist when the process starts: of one definition with one ConfigMap each (\`one\`), spread over ${values.definitions} such definitions (\`spread\`),`,
    'and of one definition with a ConfigMap, a ServiceAccount, a Service and a Deployment each (`children`). Time until all are ready.',
    '',
    table,
    '',
  ].join('\n');
}

if (values.help) console.log(usage);
else await bench();
