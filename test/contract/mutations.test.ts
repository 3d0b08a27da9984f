import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import {
  type Backend,
  createTestSandbox,
  sandboxBackend,
  serverBackend,
} from '../support/backends/index.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { readCorpus } from '../support/normalisation/corpus.ts';
import {
  answerOf,
  createPrerequisites,
  differenceText,
  isSameAnswer,
  servedPaths,
} from './mutations/mutation-answer.ts';
import { type MutationRequest, mutationRequests } from './mutations/mutation-requests.ts';
import {
  type AllowedDifferences,
  allowedFile,
  defaultCount,
  defaultSeed,
  readAllowed,
} from './mutations/ratchet.ts';

const shared = useControlPlane({ controllerManager: false });
const countPerKind = Number(process.env.CONTRACT_MUTATIONS ?? defaultCount);
const seed = Number(process.env.CONTRACT_SEED ?? defaultSeed);
const isRatchet = countPerKind === defaultCount && seed === defaultSeed;
/** Requests to the real server at the same time. */
const parallel = 8;

shared.describe('contract/mutations', () => {
  const sandbox = sandboxBackend(createTestSandbox({ controllers: false }));
  const manifests = readCorpus();
  let server: ReturnType<typeof serverBackend>;

  before(async () => {
    server = serverBackend(shared.plane);
    for (const backend of [sandbox, server]) await createPrerequisites(backend, manifests);
  });
  after(() => server.close());

  test(`${countPerKind} manifests with one mistake of each kind, from seed ${seed}, are judged alike`, async (t) => {
    const paths = await servedPaths(sandbox, manifests);
    const requests = mutationRequests({
      manifests,
      pathOf: (kind) => paths.get(kind),
      seed,
      countPerKind,
    });
    const differences = await differencesOf(sandbox, server, requests);
    const kinds = new Set(requests.map(({ kind }) => kind));
    const counts = Object.fromEntries(
      [...kinds].map((kind) => [kind, differences.get(kind)?.length ?? 0]),
    );
    t.diagnostic(`${requests.length} answers compared, ${sumOf(counts)} differ`);
    if (process.env.CONTRACT_PRINT === 'true')
      for (const text of [...differences.values()].flat()) t.diagnostic(text);
    if (!isRatchet) return t.diagnostic(JSON.stringify(counts));
    if (process.env.HOMEOSTAT_UPDATE_MUTATIONS === 'true') writeAllowed(counts);
    const worse = Object.entries(readAllowed()).filter(
      ([kind, allowed]) => (counts[kind] ?? 0) > allowed,
    );
    const texts = worse.flatMap(([kind]) => differences.get(kind) ?? []);
    assert.deepEqual(
      worse,
      [],
      `More differences than allowed in ${allowedFile.pathname}\n${texts.join('\n')}`,
    );
    assert.deepEqual(Object.keys(readAllowed()).sort(), [...kinds].sort());
  });
});

/** What differs, by kind. */
async function differencesOf(
  sandbox: Backend,
  server: Backend,
  requests: readonly MutationRequest[],
) {
  const differences = new Map<string, string[]>();
  for (let index = 0; index < requests.length; index += parallel) {
    const some = requests.slice(index, index + parallel);
    const theirs = await Promise.all(some.map((request) => answerOf(server, request)));
    for (const [at, request] of some.entries()) {
      const [mine, other] = [await answerOf(sandbox, request), theirs[at]];
      if (mine === undefined || other === undefined || isSameAnswer(mine, other)) continue;
      const found = differences.get(request.kind) ?? [];
      differences.set(request.kind, found);
      found.push(`${request.kind} ${request.label}\n${differenceText(mine, other)}`);
    }
  }
  return differences;
}

function sumOf(counts: AllowedDifferences): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function writeAllowed(counts: AllowedDifferences): void {
  const sorted = Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(allowedFile, `${JSON.stringify(sorted, null, 2)}\n`);
}
