import { statSync } from 'node:fs';

/** What files cost beyond their size, in seconds: property tests and tests that start processes, mostly. Only the balance depends on it. */
const seconds = {
  'src/compile/language/fast-path.test.ts': 4,
  'src/compile/language/guards.test.ts': 8,
  'src/compile/language/references.test.ts': 3,
  'src/definition/yaml/yaml-text.test.ts': 3,
  'src/kube/cache/model.test.ts': 4,
  'src/kube/client/failures.test.ts': 3,
  'src/reconcile/convergence.test.ts': 10,
  'src/reconcile/patch/convergence.test.ts': 8,
  'src/reconcile/preview/preview-model.test.ts': 4,
  'src/check/crd-change/safe-changes.property.test.ts': 6,
  'src/runtime/leadership/leader-elector.property.test.ts': 3,
  'src/runtime/rollout/revision-router.test.ts': 4,
  'test/integration/configmap-source.test.ts': 5,
  'test/integration/deletions-held.test.ts': 5,
  'test/integration/dev-commands.test.ts': 14,
  'test/integration/dev-files.test.ts': 14,
  'test/integration/dev-persist.test.ts': 13,
  'test/integration/docs-coming-from.test.ts': 6,
  'test/integration/docs-tutorial.test.ts': 16,
  'test/integration/fitting.test.ts': 5,
  'test/integration/killed-in-a-row.test.ts': 8,
  'test/integration/leader-election.test.ts': 26,
  'test/integration/missing-table.test.ts': 8,
  'test/integration/mistakes.test.ts': 8,
  'test/integration/recipes.test.ts': 11,
  'test/integration/reload.test.ts': 4,
  'test/integration/requests.test.ts': 4,
  'test/integration/roll-out-fates.test.ts': 6,
  'test/integration/source-fates.test.ts': 8,
  'test/unit/image.test.ts': 6,
  'test/unit/sandbox/contract.test.ts': 6,
};
const bytesPerSecond = 40_000;

/** Shares of about the same cost: each file, the costliest first, is added to the smallest share. Files keep their order within a share. */
export function splitFiles(files, count) {
  const cost = (file) => (seconds[file] ?? 0) + statSync(file).size / bytesPerSecond;
  const shares = Array.from({ length: count }, () => ({ files: new Set(), cost: 0 }));
  const costliestFirst = files.map((file) => ({ file, cost: cost(file) }));
  costliestFirst.sort((a, b) => b.cost - a.cost);
  for (const each of costliestFirst) {
    const share = shares.reduce((least, other) => (other.cost < least.cost ? other : least));
    share.files.add(each.file);
    share.cost += each.cost;
  }
  return shares.map((share) => files.filter((file) => share.files.has(file)));
}

/** Another order for each seed, the same order for the same seed. */
export function shuffle(files, seed) {
  let state = seed >>> 0;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const keyed = files.map((file) => ({ file, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ file }) => file);
}
