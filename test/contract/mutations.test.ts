import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, type TestContext, test } from 'node:test';
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
  defaultCounts,
  defaultSeed,
  type MutationGroup,
  readAllowed,
} from './mutations/ratchet.ts';
import { storeManifests, updateRequests } from './mutations/update-requests.ts';

const shared = useControlPlane({ controllerManager: false });
const givenCount = process.env.CONTRACT_MUTATIONS;
const seed = Number(process.env.CONTRACT_SEED ?? defaultSeed);
const isRatchet = givenCount === undefined && seed === defaultSeed;
/** Requests to the real server at the same time. */
const parallel = 8;

shared.describe('contract/mutations', () => {
  const sandbox = sandboxBackend(createTestSandbox({ controllers: false }));
  const manifests = readCorpus();
  let server: ReturnType<typeof serverBackend>;
  let options: Parameters<typeof mutationRequests>[0];

  before(async () => {
    server = serverBackend(shared.plane);
    for (const backend of [sandbox, server]) await createPrerequisites(backend, manifests);
    const paths = await servedPaths(sandbox, manifests);
    options = { manifests, pathOf: (kind) => paths.get(kind), seed, countPerKind: 0 };
  });
  after(() => server.close());

  test(`${countOf('manifests')} manifests with one mistake of each kind, from seed ${seed}, are judged alike`, async (t) => {
    const requests = mutationRequests({ ...options, countPerKind: countOf('manifests') });
    compare(t, 'manifests', requests, await differencesOf(sandbox, server, requests));
  });

  test(`${countOf('updates')} changes of stored objects of each kind, from seed ${seed}, are judged alike`, async (t) => {
    const stored = await storeManifests(sandbox, server, options);
    const requests = updateRequests(stored, { seed, countPerKind: countOf('updates') });
    compare(t, 'updates', requests, await differencesOf(sandbox, server, requests));
  });
});

/** Mutations of each kind. */
function countOf(group: MutationGroup): number {
  return Number(givenCount ?? defaultCounts[group]);
}

type Differences = ReadonlyMap<string, readonly string[]>;

/** Fails when more mutations of a kind are judged differently than allowed. */
function compare(
  t: TestContext,
  group: MutationGroup,
  requests: readonly MutationRequest[],
  differences: Differences,
): void {
  const kinds = new Set(requests.map(({ kind }) => kind));
  const counts = Object.fromEntries(
    [...kinds].map((kind) => [kind, differences.get(kind)?.length ?? 0]),
  );
  t.diagnostic(`${requests.length} answers compared, ${sumOf(counts)} differ`);
  if (process.env.CONTRACT_PRINT === 'true')
    for (const text of [...differences.values()].flat()) t.diagnostic(text);
  if (!isRatchet) {
    t.diagnostic(JSON.stringify(counts));
    return;
  }
  if (process.env.HOMEOSTAT_UPDATE_MUTATIONS === 'true') writeAllowed(group, counts);
  const allowed = readAllowed()[group];
  const worse = Object.entries(allowed).filter(([kind, most]) => (counts[kind] ?? 0) > most);
  const texts = worse.flatMap(([kind]) => differences.get(kind) ?? []);
  assert.deepEqual(
    worse,
    [],
    `More differences than allowed in ${allowedFile.pathname}\n${texts.join('\n')}`,
  );
  assert.deepEqual(Object.keys(allowed).sort(), [...kinds].sort());
}

/** What differs, by kind. */
async function differencesOf(
  sandbox: Backend,
  server: Backend,
  requests: readonly MutationRequest[],
): Promise<Differences> {
  const differences = new Map<string, string[]>();
  for (let index = 0; index < requests.length; index += parallel) {
    const some = requests.slice(index, index + parallel);
    const theirs = await Promise.all(
      some.map(({ request, theirs = request }) => answerOf(server, theirs)),
    );
    for (const [at, { kind, label, request }] of some.entries()) {
      const [mine, other] = [await answerOf(sandbox, request), theirs[at]];
      if (mine === undefined || other === undefined || isSameAnswer(mine, other)) continue;
      const found = differences.get(kind) ?? [];
      differences.set(kind, found);
      found.push(`${kind} ${label}\n${differenceText(mine, other)}`);
    }
  }
  return differences;
}

function sumOf(counts: AllowedDifferences): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function writeAllowed(group: MutationGroup, counts: AllowedDifferences): void {
  const sorted = Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
  const all = { ...readAllowed(), [group]: sorted };
  writeFileSync(allowedFile, `${JSON.stringify(all, null, 2)}\n`);
}
