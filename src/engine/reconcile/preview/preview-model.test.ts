import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import {
  neededSecret,
  previewRuns,
  randomBody,
  randomSpec,
} from '../../../../test/support/model/changed-definition.ts';
import { SeededRandom } from '../../../../test/support/model/seeded-random.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';
import { DeletionHold } from './deletion-hold.ts';
import { previewAll } from './preview.ts';

const kinds = ['ConfigMap', 'Secret'].map((kind) => gvkOf('v1', kind));
const names = ['p', 'q', 'r'];

/** What a change of a definition has done, by names of objects. */
interface Change {
  readonly expected: readonly string[];
  readonly isComplete: boolean;
  readonly gone: readonly string[];
}

describe('reconcile/preview/model', () => {
  const { count, firstSeed } = previewRuns;
  test(`previews of ${count} random changes report what passes then delete, and what is held stays`, async () => {
    const seen = { complete: 0, deleting: 0, held: 0, late: 0 };
    for (let seed = firstSeed; seed < firstSeed + count; seed++) {
      try {
        await tryOne(seed, seen);
      } catch (cause) {
        throw new Error(`HOMEOSTAT_PREVIEW_SEED=${seed} HOMEOSTAT_PREVIEW_RUNS=1`, { cause });
      }
    }
    if (count < 30) return;
    // A generator that makes nothing worth looking at would prove nothing.
    assert.ok(
      seen.complete > count / 3 && seen.deleting > count / 3 && seen.held > 0 && seen.late > 0,
      JSON.stringify(seen),
    );
  });
});

async function tryOne(
  seed: number,
  seen: Record<'complete' | 'deleting' | 'held' | 'late', number>,
) {
  const random = new SeededRandom(seed);
  const [before, after] = [randomBody(random), randomBody(random)];
  const harness = new OperatorHarness(planOfPodSet(before));
  await harness.start();
  if (random.chance(0.5)) put(harness, neededSecret);
  for (const name of names) harness.podSet(name, randomSpec(random));
  harness.cluster.deliver();
  await harness.settle();
  // Held or deleted: a resource may change at the same time.
  const maxDeletions = random.below(6);
  const hold = new DeletionHold({
    revision: 'new',
    maxDeletions,
    keys: names.map((name) => `default/${name}`),
  });
  harness.guard = hold;
  harness.formerKinds = kinds;
  await harness.restart(planOfPodSet(after));
  const there = objectsOf(harness);
  const reported = await previewed(harness, hold);
  if (reported.isComplete) seen.complete += 1;
  if (reported.expected.length > 0) seen.deleting += 1;
  await harness.settle();
  // What no preview could tell comes to light.
  if (!reported.isComplete && random.chance(0.5)) {
    put(harness, neededSecret);
    harness.cluster.deliver();
    await again(harness);
    const gone = goneOf(harness, there);
    assert.ok(gone.length <= maxDeletions, 'never more than allowed');
    if (hold.deletions > reported.expected.length) seen.late += 1;
    return;
  }
  if (reported.expected.length > maxDeletions) {
    seen.held += 1;
    assert.deepEqual(goneOf(harness, there), [], 'what is held stays');
    hold.approve('another');
    await again(harness);
    assert.deepEqual(goneOf(harness, there), [], 'what is held stays');
    hold.approve('new');
    await again(harness);
  }
  check({ ...reported, gone: goneOf(harness, there) });
  if (reported.isComplete) assert.equal(hold.state, 'over');
}

/** Nothing is deleted that was not reported; where all could be reported, all that was reported is deleted. */
function check({ expected, isComplete, gone }: Change): void {
  assert.deepEqual(
    gone.filter((name) => !expected.includes(name)),
    [],
    'what no preview has reported',
  );
  if (isComplete) assert.deepEqual(gone, expected);
}

async function previewed(
  harness: OperatorHarness,
  hold: DeletionHold,
): Promise<Omit<Change, 'gone'>> {
  const expected: string[] = [];
  let isComplete = true;
  harness.cluster.takeWrites();
  const previewer = harness.operator.startPreview();
  await previewAll({
    previewer,
    keys: names.map((name) => `default/${name}`),
    clock: harness.clock,
    signal: harness.signal,
    onPreview: (key, preview) => {
      hold.expect(key, preview.deletes);
      expected.push(...preview.deletes.map(({ ref }) => `${ref.gvk.kind} ${ref.name}`));
      isComplete &&= preview.isComplete;
    },
  });
  previewer.stop();
  hold.decide();
  assert.deepEqual(harness.cluster.takeWrites(), [], 'a preview sends nothing');
  return { expected: expected.sort(), isComplete };
}

async function again(harness: OperatorHarness): Promise<void> {
  for (const name of names) harness.queued.set(`default/${name}`, 'normal');
  await harness.settle();
}

function put({ cluster }: OperatorHarness, name: string): void {
  const metadata = { name, namespace: 'default' };
  cluster.server.put({ apiVersion: 'v1', kind: 'Secret', metadata });
}

function objectsOf({ cluster }: OperatorHarness): ReadonlySet<string> {
  const objects = kinds.flatMap((gvk) => cluster.server.list(gvk));
  return new Set(objects.map(({ object: { kind, metadata } }) => `${kind} ${metadata.name}`));
}

function goneOf(harness: OperatorHarness, there: ReadonlySet<string>): readonly string[] {
  const left = objectsOf(harness);
  return [...there].filter((name) => !left.has(name)).sort();
}
