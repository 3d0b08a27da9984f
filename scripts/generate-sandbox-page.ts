// `npm run generate -- sandbox`: docs/sandbox.md, how to use the sandbox, and its differences from a real server by the contract
// suite. `-- --check` writes nothing and exits 1 when the committed page differs.
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
import {
  defaultCounts,
  type MutationGroup,
  readAllowed,
} from '../test/contract/mutations/ratchet.ts';
import { behaviours } from '../test/contract/ranked/behaviours.ts';
import { shownCounts } from '../test/contract/ranked/shown.ts';
import { kubernetesVersion, oldestKubectlVersion } from '../test/support/control-plane/versions.ts';
import { introduction } from './sandbox-introduction.ts';

type Groups = readonly (readonly [name: string, cases: readonly ContractCase[]])[];

const [newest, oldest] = [kubernetesVersion, oldestKubectlVersion].map((version) =>
  version.slice(1),
);
const path = fileURLToPath(new URL('../docs/sandbox.md', import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const text = page();
if (!values.check) writeFileSync(path, text);
else if (readFileSync(path, 'utf8') !== text) {
  console.error('docs/sandbox.md differs from the contract suite: run npm run generate -- sandbox');
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
    ...introduction,
    '## Differences from a cluster',
    '',
    'The sandbox is a Kubernetes API server inside the process. A successful run in the sandbox does not prove that a cluster behaves the same.',
    '',
    `${code('npm test -- contract')} sends the same requests to the sandbox and to a real kube-apiserver and compares complete responses:`,
    `${count} cases, ${kubectlScript.length} kubectl commands, every manifest of ${code('test/fixtures/manifests')}, 4,000 random writes, ${mutationCount('manifests')} manifests with a mistake and ${mutationCount('updates')} changes of stored objects.`,
    `The commands run with kubectl ${newest} and ${oldest}, built for the suite, and with the kubectl of the machine, if there is one.`,
    `The tables below are generated from the suite by ${code('npm run generate -- sandbox')}.`,
    '',
    ...table(
      ['subject', 'the sandbox'],
      knownDifferences.map(({ about, sandbox }) => [about, sandbox]),
    ),
    '',
    '## Same behavior',
    '',
    'The behavior that matters most to operators and their users, with the number of cases and commands that test it.',
    '',
    ...table(['', 'behavior', 'tests'], behaviourRows()),
    '',
    '## Kinds that are not served',
    '',
    `${unservedKinds.map(code).join(', ')}.`,
    '',
    '## Responses that differ',
    '',
    'Parts of responses that the suite does not compare, with the group of the cases in `test/contract/cases` and their number.',
    '',
    ...table(['group', 'part', 'reason', 'cases'], caseRows(groups)),
    '',
    '## Manifests that are stored differently',
    '',
    ...table(['manifest', 'fields', 'reason'], manifestRows()),
    '',
    '## Manifests with mistakes',
    '',
    `The suite changes one value in a manifest, in ${defaultCounts.manifests} random ways for each kind: a field removed, renamed or null, an item doubled, an empty value, a wrong type, a malformed name, a number out of range.`,
    'It sends each as a dry run to both servers and compares code, object and message. The table lists the kinds with answers that differ; other kinds have none. A test keeps these numbers from growing.',
    '',
    ...table(['kind', `differ, of ${defaultCounts.manifests}`], mutationRows('manifests')),
    '',
    '## Updates',
    '',
    `The suite stores every manifest and changes one value of it, in ${defaultCounts.updates} random ways for each kind, by PUT and by server-side apply: a value of another object in the same place, a similar value, a field or item more or less, or one of the mistakes above.`,
    'It sends each as a dry run to both servers and compares code, object and message. It does not compare how often a cause is repeated, nor the differences and structs that a server prints after some messages.',
    '',
    ...table(['kind', `differ, of ${defaultCounts.updates}`], mutationRows('updates')),
    '',
    '## kubectl commands with other output',
    '',
    ...table(['command', 'reason'], commandRows()),
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
  return groups.flatMap(([group, cases]) => {
    const names = new Map<string, Set<string>>();
    for (const { name, steps } of cases)
      for (const step of steps)
        for (const difference of Object.entries(differencesOf(step))) {
          const key = JSON.stringify(difference);
          names.set(key, (names.get(key) ?? new Set()).add(name));
        }
    return [...names].map(([key, { size }]) => {
      const [part, because] = JSON.parse(key) as [string, string];
      return [group, part === '' ? 'all' : code(part), because, String(size)];
    });
  });
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

function mutationCount(group: MutationGroup): string {
  const kinds = Object.keys(readAllowed()[group]);
  return (kinds.length * defaultCounts[group]).toLocaleString('en');
}

function mutationRows(group: MutationGroup): readonly Row[] {
  return Object.entries(readAllowed()[group])
    .filter(([kind, count]) => count > 0 && !kind.startsWith('fixtures.'))
    .map(([kind, count]) => [code(kind), String(count)]);
}

function commandRows(): readonly Row[] {
  return kubectlScript.flatMap(({ run, differs = '', newestOnly = '' }) =>
    differs === '' && newestOnly === ''
      ? []
      : [[code(`kubectl ${run}`), differs === '' ? newestOnly : differs]],
  );
}
