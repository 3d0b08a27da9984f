// `npm run generate -- reliability`: docs/reliability.md, from the cases of the fault suite. `-- --check` writes nothing and
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

This page lists the faults between an operator and its cluster that the fault suite injects, and what must be true afterwards. It is generated
from the cases of \`test/faults\` by \`npm run generate -- reliability\`: each row is a test. Run them with \`npm test -- faults\`.

Each test runs \`homeostat run\` against a real API server, etcd and kube-controller-manager, with a proxy between them that injects the fault. The
definition has a read, a list of children, and a chain in which each child needs a server-generated value of the previous one. Six resources are
created and then edited in every way: values, lists, reads; children that users delete, change or release; a resource that is replaced by another
one of the same name.

**The oracle** of every row:

- The cluster has the same objects as after a run without the fault (names, labels, specs, owner references, reported status).
- Objects that should survive have their previous UIDs. The process deleted only objects for which the edits give a reason.
- Then there is no request for three seconds, no pending request, and no lost or duplicate watch. The heap after a collection is within 12 MiB of its previous size.
- The process is ready, has logged no error, and is the same one unless the row kills it.

A fault that was not injected fails its test.

${section('Watches and lists', watchCases)}
${section('Requests and answers', requestCases)}
${section('The process', processCases)}
${section('The cluster', clusterCases)}
## Crashes and leftovers

${table(Object.values<OtherFault>(otherFaults).map(({ name, injected, oracle, runs }) => [name, injected, oracle, runs]))}
Other suites cover two replicas, a lost Lease and a frozen process (\`test/integration/leader-election.test.ts\`, random histories in \`src/engine/runtime/leadership\`), and reloaded definitions (\`reload.test.ts\`).

## Known limits

- After an outage that a request of the process detected, every kind is listed again, and a definition continues when all its kinds are listed. An
  etcd that is restored so fast that only connections broke is detected by its lower resource version. If it has had more writes since than the
  backup lacked, it cannot be distinguished from one that was never restored. Restore with \`etcdutl snapshot restore --bump-revision --mark-compacted\`,
  or restart the process.
- A server that has just started may deny requests that it allows a second later, because it does not know its roles yet. The process checks the
  right again, first after five seconds.

## Soak

\`npm run soak -- --minutes 20 --seed 7\` generates edits, deletions, changes by other managers, faults, outages, kills
and restores of etcd from the seed, which it prints. At each check point all faults end. A fresh process without faults creates the same resources in
another namespace; the two namespaces must be equal, with the oracle above. The same seed has the same steps; their timing relative to the server differs.

| seed | minutes | check points | result |
| --- | --- | --- | --- |
${soakRuns.map(({ seed, minutes, checkPoints, result }) => `| ${seed} | ${minutes} | ${checkPoints} | ${result} |`).join('\n')}
`;

if (!values.check) writeFileSync(path, page);
else if (readFileSync(path, 'utf8') !== page) {
  console.error(`${path} is not what the suite says: run npm run generate -- reliability`);
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
    ['fault', 'how injected', 'in addition to the oracle', 'runs'],
    ['---', '---', '---', '---'],
    ...rows,
  ];
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}
