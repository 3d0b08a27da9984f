// Writes what the chart in deploy/chart/ is given: the CRD, the shipped operators, and the rules of its roles, made of the shipped
// definitions. With --check it only compares, and fails when something is not up to date.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  checkDefinitions,
  definitionRights,
  type MergedRule,
  rulesYaml,
  runtimeRights,
} from '#check';
import { bundledPlural, bundledSchemas } from '#compile';
import { webhookSecretName } from '#util/stored-names.ts';
import { fileOfRightTest, rightTests } from './deploy/right-tests.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const chart = join(root, 'deploy/chart');
const isCheck = process.argv.includes('--check');

const operators = readdirSync(join(root, 'operators'))
  .filter((file) => file.endsWith('.yaml'))
  .sort()
  .map((file) => ({ file, text: readFileSync(join(root, 'operators', file), 'utf8') }));
/** Those that need the webhook of `conversion.enabled`: without it they would be rejected. */
const [converted, others] = [true, false].map((isConverted) =>
  operators.filter(({ text }) => /^ {2}conversions:/m.test(text) === isConverted),
) as [typeof operators, typeof operators];
const runtime = runtimeRights({ leaseName: 'LEASE_NAME' });
const crd = 'operatordefinitions.homeostat.dev.yaml';
/** Not in `crds/`: they are installed with `clusters.enabled` and `http.enabled` only. */
const optionalCrds = ['clusters', 'httpendpoints', 'httpobjects'].map(
  (plural) => `${plural}.homeostat.dev.yaml`,
);

const files = new Map([
  [`crds/${crd}`, readFileSync(join(root, 'deploy/crds', crd), 'utf8')],
  ...optionalCrds.map(
    (file) =>
      [`files/crds/${file}`, readFileSync(join(root, 'deploy/crds', file), 'utf8')] as const,
  ),
  ...others.map(({ file, text }) => [`files/operators/${file}`, text] as const),
  ...converted.map(({ file, text }) => [`files/converted-operators/${file}`, text] as const),
  ['files/rights/cluster.yaml', itemsOf(runtime.cluster)],
  ['files/rights/leader-election.yaml', itemsOf(runtime.leaderElection)],
  ['files/rights/configmaps.yaml', itemsOf(runtime.configMaps)],
  ['files/rights/clusters.yaml', itemsOf(runtime.clusters)],
  ['files/rights/cluster-secrets.yaml', itemsOf(runtime.clusterSecrets)],
  ['files/rights/http.yaml', itemsOf(runtime.http)],
  ['files/rights/http-values.yaml', itemsOf(runtime.httpValues)],
  ['files/rights/http-logins.yaml', itemsOf(runtime.httpLogins)],
  ['files/rights/conversion.yaml', itemsOf(runtime.conversion)],
  ['files/rights/conversion-secret.yaml', itemsOf(runtime.conversionSecret)],
  ['files/rights/conversion-bundle.yaml', itemsOf(runtime.conversionBundle)],
  ['files/rights/examples.yaml', rightsOf(others)],
  ['files/rights/converted-examples.yaml', rightsOf(converted)],
]);

for (const [path, text] of files) bring(path, text);
for (const folder of [
  ...['crds', 'files/crds', 'files/operators', 'files/converted-operators', 'files/rights'],
])
  dropOthers(folder);

/** What an administrator should know about the rights is a comment above them. */
function rightsOf(texts: typeof operators): string {
  const { accepted } = checkDefinitions(texts, { schemas: bundledSchemas() });
  if (accepted.length !== texts.length) throw new Error('A shipped operator has mistakes');
  const plans = accepted.map(({ plan }) => plan);
  const { rules: all, notes, warnings } = definitionRights(plans, bundledPlural);
  // The chart grants it in one namespace.
  const rules = all.filter(({ names = [] }) => !names.includes(webhookSecretName));
  if (warnings.length > 0 || rules.some(({ namespaces }) => namespaces !== undefined))
    throw new Error(
      `The rights of the shipped operators are not one ClusterRole: ${warnings.join()}`,
    );
  const isConverted = texts === converted;
  return notes.map((note) => `# ${note}\n`).join('') + itemsOf(rules, !isConverted);
}

/** @param namesTests whether a test of `rightTests` shows that each rule is needed */
function itemsOf(rules: readonly MergedRule[], namesTests = true): string {
  return rulesYaml(rules, { indent: 0, ...(namesTests && { comment: testsOf }) });
}

function testsOf({ purposes }: MergedRule): readonly string[] {
  const titles = new Set(purposes.map((purpose) => rightTests[purpose]));
  return [...titles].map((title) => `test: ${fileOfRightTest(title)}, "${title}"`);
}

function bring(path: string, text: string): void {
  const file = join(chart, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  if (isCheck) complain(file);
  else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function dropOthers(folder: string): void {
  for (const name of readdirSync(join(chart, folder))) {
    if (files.has(`${folder}/${name}`)) continue;
    if (isCheck) complain(join(chart, folder, name));
    else rmSync(join(chart, folder, name));
  }
}

function complain(file: string): void {
  process.stderr.write(`${file} is not up to date: run scripts/generate-chart.ts\n`);
  process.exitCode = 1;
}
