// Writes docs/metrics.md from the catalogue of metrics.
// With --check it only compares, and fails when the file is not up to date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type MetricSpec, metricCatalogue } from '#telemetry/roles.ts';

const file = fileURLToPath(new URL('../docs/metrics.md', import.meta.url));

/** Sections by the prefix of their names. */
const sections = [
  ['homeostat_', 'Homeostat'],
  ['controller_runtime_', 'Passes, by the names of controller-runtime'],
  ['workqueue_', 'Queues, by the names of client-go'],
  ['rest_client_', 'Requests, by the names of client-go'],
  ['leader_election_', 'Leader election, by the names of client-go'],
] as const;

const withoutSection = Object.values(metricCatalogue).filter(
  ({ name }) => !sections.some(([prefix]) => name.startsWith(prefix)),
);
if (withoutSection.length > 0)
  throw new Error(`No section has ${withoutSection.map(({ name }) => name).join(', ')}`);

const text = `${[
  '# Metrics',
  '',
  'Generated from `src/engine/telemetry/metric-catalogue.ts` by `npm run generate`; do not edit.',
  '',
  '`/metrics` serves them in the text format of Prometheus. Names that dashboards for controller-runtime and client-go know',
  'have the same meaning here; `controller` and `name` are the name of the definition, or',
  '`homeostat.dev/operatordefinitions` and `homeostat.dev/clusters` for the work on these objects. Every series whose label values are known',
  'exists from the start, with the value 0. The series of a definition are removed with it. No label has the name of a resource.',
  'Besides these there are the `process_*` and `nodejs_*` series that prom-client makes (CPU, memory, garbage collection).',
  '',
  'What to look at, and what to do about it, is in [operations.md](operations.md); a dashboard and alerts are in `deploy/`.',
  ...sections.flatMap(([prefix, title]) => ['', `## ${title}`, '', ...tableOf(prefix)]),
].join('\n')}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  process.stderr.write(`${file} is not up to date: run scripts/generate-metrics-page.ts\n`);
  process.exitCode = 1;
}

function tableOf(prefix: string): readonly string[] {
  const specs: readonly MetricSpec[] = Object.values(metricCatalogue);
  return [
    '| name | type | labels | what |',
    '| --- | --- | --- | --- |',
    ...specs.filter(({ name }) => name.startsWith(prefix)).map(rowOf),
  ];
}

function rowOf({ name, type, labels, values = {}, help }: MetricSpec): string {
  const cells = labels.map((label) => {
    const known = values[label]?.map((value) => `\`${value}\``).join(', ');
    return known === undefined ? `\`${label}\`` : `\`${label}\` (${known})`;
  });
  return `| \`${name}\` | ${type} | ${cells.join('; ')} | ${help} |`;
}
