import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import {
  neededSecret,
  previewRuns,
  randomBody,
  randomSpec,
} from '../../../test/support/model/changed-definition.ts';
import { SeededRandom } from '../../../test/support/model/seeded-random.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';
import { gvkOf } from '../../util/gvk.ts';
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
  const world = new OperatorWorld(planOfPodSet(before));
  await world.start();
  if (random.chance(0.5)) put(world, neededSecret);
  for (const name of names) world.podSet(name, randomSpec(random));
  world.cluster.deliver();
  await world.settle();
  // Held or deleted: a resource may change at the same time.
  const maxDeletions = random.below(6);
  const hold = new DeletionHold({
    revision: 'new',
    maxDeletions,
    keys: names.map((name) => `default/${name}`),
  });
  world.guard = hold;
  world.formerKinds = kinds;
  await world.restart(planOfPodSet(after));
  const there = objectsOf(world);
  const told = await previewed(world, hold);
  if (told.isComplete) seen.complete += 1;
  if (told.expected.length > 0) seen.deleting += 1;
  await world.settle();
  // What no preview could tell comes to light.
  if (!told.isComplete && random.chance(0.5)) {
    put(world, neededSecret);
    world.cluster.deliver();
    await again(world);
    const gone = goneOf(world, there);
    assert.ok(gone.length <= maxDeletions, 'never more than allowed');
    if (hold.deletions > told.expected.length) seen.late += 1;
    return;
  }
  if (told.expected.length > maxDeletions) {
    seen.held += 1;
    assert.deepEqual(goneOf(world, there), [], 'what is held stays');
    hold.approve('another');
    await again(world);
    assert.deepEqual(goneOf(world, there), [], 'what is held stays');
    hold.approve('new');
    await again(world);
  }
  check({ ...told, gone: goneOf(world, there) });
  if (told.isComplete) assert.equal(hold.state, 'over');
}

/** Nothing goes that was not told; where all could be told, all that was told goes. */
function check({ expected, isComplete, gone }: Change): void {
  assert.deepEqual(
    gone.filter((name) => !expected.includes(name)),
    [],
    'what no preview has told',
  );
  if (isComplete) assert.deepEqual(gone, expected);
}

async function previewed(world: OperatorWorld, hold: DeletionHold): Promise<Omit<Change, 'gone'>> {
  const expected: string[] = [];
  let isComplete = true;
  world.cluster.takeWrites();
  const previewer = world.operator.startPreview();
  await previewAll({
    previewer,
    keys: names.map((name) => `default/${name}`),
    clock: world.clock,
    signal: world.signal,
    onPreview: (key, preview) => {
      hold.expect(key, preview.deletes);
      expected.push(...preview.deletes.map(({ ref }) => `${ref.gvk.kind} ${ref.name}`));
      isComplete &&= preview.isComplete;
    },
  });
  previewer.stop();
  hold.decide();
  assert.deepEqual(world.cluster.takeWrites(), [], 'a preview sends nothing');
  return { expected: expected.sort(), isComplete };
}

async function again(world: OperatorWorld): Promise<void> {
  for (const name of names) world.queued.set(`default/${name}`, 'normal');
  await world.settle();
}

function put({ cluster }: OperatorWorld, name: string): void {
  const metadata = { name, namespace: 'default' };
  cluster.server.put({ apiVersion: 'v1', kind: 'Secret', metadata });
}

function objectsOf({ cluster }: OperatorWorld): ReadonlySet<string> {
  const objects = kinds.flatMap((gvk) => cluster.server.list(gvk));
  return new Set(objects.map(({ object: { kind, metadata } }) => `${kind} ${metadata.name}`));
}

function goneOf(world: OperatorWorld, there: ReadonlySet<string>): readonly string[] {
  const left = objectsOf(world);
  return [...there].filter((name) => !left.has(name)).sort();
}
