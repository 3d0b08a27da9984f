// `npm run generate:sandbox`: docs/sandbox.md, what the sandbox does otherwise than a real server, as the contract
// suite knows it. `-- --check` writes nothing and exits 1 when the committed page differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { controllerCases } from '../test/contract/cases/controllers.ts';
import { garbage } from '../test/contract/cases/garbage.ts';
import { contractCases } from '../test/contract/cases/index.ts';
import { knownDifferences } from '../test/contract/differences/known.ts';
import { manifestDifferences, unservedKinds } from '../test/contract/differences/manifests.ts';
import type { ContractCase } from '../test/contract/driver/index.ts';
import { kubectlScript } from '../test/contract/kubectl/kubectl-script.ts';
import { behaviours } from '../test/contract/ranked/behaviours.ts';
import { shownCounts } from '../test/contract/ranked/shown.ts';
import { kubernetesVersion, oldestKubectlVersion } from '../test/support/control-plane/versions.ts';

type Groups = readonly (readonly [name: string, cases: readonly ContractCase[]])[];

const [newest, oldest] = [kubernetesVersion, oldestKubectlVersion].map((version) =>
  version.slice(1),
);
const path = fileURLToPath(new URL('../docs/sandbox.md', import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const text = page();
if (!values.check) writeFileSync(path, text);
else if (readFileSync(path, 'utf8') !== text) {
  console.error('docs/sandbox.md differs from the contract suite: run npm run generate:sandbox');
  process.exitCode = 1;
}

function page(): string {
  const groups: Groups = [
    ...Object.entries(contractCases),
    ...Object.entries(controllerCases),
    ['garbage', garbage],
  ];
  const count = groups.reduce((sum, [, cases]) => sum + cases.length, 0);
  return [
    '# The sandbox and a real server',
    '',
    `The sandbox is a Kubernetes API server inside the process. ${code('npm run test:contract')} puts the same questions to it and to a real`,
    `kube-apiserver (${count} cases, ${kubectlScript.length} commands of kubectl, every manifest of ${code('test/fixtures/manifests')}, 4,000 random writes) and compares`,
    'whole answers. A green run on the sandbox is no proof for a cluster.',
    `The commands are given by kubectl ${newest} and ${oldest}, built for it, and by the one of the machine if it has one.`,
    `This page is made from the suite by ${code('npm run generate:sandbox')}.`,
    '',
    '## What is otherwise',
    '',
    ...table(
      ['about', 'the sandbox'],
      knownDifferences.map(({ about, sandbox }) => [about, sandbox]),
    ),
    '',
    '## What is alike',
    '',
    'What matters most to operators and their users, by how many cases and commands show it.',
    '',
    ...table(['', 'behaviour', 'shown by'], behaviourRows()),
    '',
    '## Kinds that it does not serve',
    '',
    `${unservedKinds.map(code).join(', ')}.`,
    '',
    '## Answers that differ',
    '',
    'Cases of the suite in which a part of the answer is not compared.',
    '',
    ...table(['case', 'part', 'because'], caseRows(groups)),
    '',
    '## Manifests that are stored otherwise',
    '',
    ...table(['manifest', 'fields', 'because'], manifestRows()),
    '',
    '## Commands of kubectl that say something else',
    '',
    ...table(['command', 'because'], commandRows()),
    '',
  ].join('\n');
}

type Row = readonly string[];

function table(head: Row, rows: readonly Row[]): readonly string[] {
  const lines = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const all = [head, head.map(() => '---'), ...lines].map((row) => `| ${row.join(' | ')} |`);
  return [...new Set(all)];
}

function behaviourRows(): readonly Row[] {
  const counts = shownCounts();
  return behaviours.map((behaviour, index) => {
    const number = index + 1;
    return [String(number), behaviour, String(counts.get(number) ?? 0)];
  });
}

function code(name: string): string {
  return `\`${name}\``;
}

function caseRows(groups: Groups): readonly Row[] {
  return groups.flatMap(([group, cases]) =>
    cases.flatMap(({ name, steps }) =>
      steps.flatMap((step) =>
        Object.entries(differencesOf(step)).map(([part, because]) => [
          `${group}: ${name}`,
          part === '' ? 'all' : code(part),
          because,
        ]),
      ),
    ),
  );
}

function differencesOf(step: ContractCase['steps'][number]): Readonly<Record<string, string>> {
  return 'until' in step || 'method' in step ? (step.expect.differs ?? {}) : {};
}

function manifestRows(): readonly Row[] {
  return manifestDifferences.map(({ manifest, paths, because }) => [
    code(manifest.source.trim()),
    paths.map(code).join(', '),
    because,
  ]);
}

function commandRows(): readonly Row[] {
  return kubectlScript.flatMap(({ run, differs = '', newestOnly = '' }) =>
    differs === '' && newestOnly === ''
      ? []
      : [[code(`kubectl ${run}`), differs === '' ? newestOnly : differs]],
  );
}
