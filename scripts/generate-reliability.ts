// `npm run generate:reliability`: docs/reliability.md, from the cases of the fault suite. `-- --check` writes nothing and
// exits 1 when the committed page is not what the suite says.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  clusterCases,
  processCases,
  requestCases,
  watchCases,
} from '../test/faults/cases/index.ts';
import type { FaultCase } from '../test/faults/fault-case.ts';
import { type OtherFault, otherFaults } from '../test/faults/other-faults.ts';
import { soakRuns } from '../test/faults/soak/soak-runs.ts';

const path = fileURLToPath(new URL('../docs/reliability.md', import.meta.url));
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const page = `# Reliability

What goes wrong between an operator and its cluster, how the suite makes it go wrong, and what must be true afterwards. Generated from the
cases of \`test/faults\` by \`npm run generate:reliability\`: a row is a test. Run them with \`npm run test:faults\`.

The process is \`homeostat run\` before a real API server, etcd and kube-controller-manager; a proxy between them does the damage. Its definition
has a read, a list of children, and a chain in which a child needs what the server made of the one before; six resources are created, then
edited in every way: values, lists, reads, children that somebody deletes, changes or frees, a resource replaced by another of its name.

**The oracle** of every row: the world equals that of a run without the fault, object by object (names, labels, specs, owner references, reported
status); what should live has the UID it had, and the process has deleted nothing but what the edits give a reason to; then no request for three
seconds, none that hangs in the process or on the way, no watch lost or open twice; the heap after a collection is back within 12 MiB; the process
is ready, has logged no error, and is the same one unless the row kills it. A fault that did not happen fails its test.

${section('Watches and lists', watchCases)}
${section('Requests and answers', requestCases)}
${section('The process', processCases)}
${section('The cluster', clusterCases)}
## Crashes and leftovers

${table(Object.values<OtherFault>(otherFaults).map(({ name, injected, oracle, runs }) => [name, injected, oracle, runs]))}
Not here: two replicas, a lease that is lost and a process that is frozen (\`test/integration/leader-election.test.ts\`, random histories in \`src/runtime/leadership\`), definitions that are reloaded (\`reload.test.ts\`).

## Known limits

- A child whose label \`homeostat.dev/owner-uid\` somebody takes away while no process runs, and which the resource has dropped before one runs again, is
  not pruned: it stays until its owner is deleted. Children are found by that label.
- After an outage that the process has seen (it asked and got no answer) everything is listed anew, and no definition works before all it watches was. An
  etcd that is restored so fast that only connections broke is noticed by its lower version; if it has had more writes since than the backup lacked by
  then, it cannot be told from one that was never restored. Restore with \`etcdutl snapshot restore --bump-revision --mark-compacted\`, or restart the process.
- A server that has just started may refuse what it allows a second later, as it does not know its roles yet. The process then asks whether the right
  has come, first after five seconds.

## Soak

\`npm run soak -- --minutes 20 --seed 7\` draws edits, deletions, meddling, faults, outages, kills and restores of etcd from the seed, which it prints. At each
check point all faults end, a fresh process without faults makes the same wishes true in a namespace of its own, and the two worlds must be
equal, with the oracle above. The same seed takes the same steps; how they meet the server's own timing differs from run to run.

| seed | minutes | check points | result |
| --- | --- | --- | --- |
${soakRuns.map(({ seed, minutes, checkPoints, result }) => `| ${seed} | ${minutes} | ${checkPoints} | ${result} |`).join('\n')}
`;

if (!values.check) writeFileSync(path, page);
else if (readFileSync(path, 'utf8') !== page) {
  console.error(`${path} is not what the suite says: run npm run generate:reliability`);
  process.exitCode = 1;
}

function section(title: string, cases: readonly FaultCase[]): string {
  return `## ${title}\n\n${table(cases.map(rowOf))}`;
}

function rowOf({ name, injected, oracle = '', runs }: FaultCase): readonly string[] {
  return [name, injected, oracle, runs ?? 'creations, edits'];
}

function table(rows: readonly (readonly string[])[]): string {
  const lines = [
    ['fault', 'how injected', 'besides the oracle', 'runs'],
    ['---', '---', '---', '---'],
    ...rows,
  ];
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}
