import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type DeletionWorld,
  deletePodSet,
  deletionWorld,
  farChild,
  placesOf,
  podSetOf,
  unavailable,
} from '../../../test/support/fakes/deletion-world.ts';
import type { FakeRequest } from '../../../test/support/fakes/fake-cluster.ts';
import type { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';

const finalizer = 'homeostat.dev/podset';
const note = 'orphan.homeostat.dev/podset';

/** Somebody deletes the resource with `--cascade=orphan`; the server does not take writes of `failing` meanwhile. */
async function orphanWhile(failing: (request: FakeRequest) => boolean): Promise<DeletionWorld> {
  const made = await deletionWorld({ children: [farChild('one'), farChild('two')] });
  const { world } = made;
  const before = podSetOf(world);
  assert.ok(before);
  const finalizers = ['orphan', ...(before.metadata.finalizers ?? [])];
  world.edit(before, { metadata: { ...before.metadata, finalizers } });
  await world.settle();
  world.cluster.fault = (request) => (failing(request) ? unavailable : undefined);
  await deletePodSet(world);
  return made;
}

/** The garbage collector has let go of what it knows. */
function collect(world: OperatorWorld): void {
  const object = podSetOf(world);
  assert.ok(object);
  const finalizers = object.metadata.finalizers?.filter((each) => each !== 'orphan') ?? [];
  world.edit(object, { metadata: { ...object.metadata, finalizers } });
}

describe('reconcile/finalize: what a deletion was said to leave stays', () => {
  test('also when another process continues with it', async () => {
    const { world, plan } = await orphanWhile(
      ({ verb, kind }) => verb === 'edit' && kind === 'ConfigMap',
    );
    assert.equal(podSetOf(world)?.metadata.annotations?.[note], podSetOf(world)?.metadata.uid);
    collect(world);
    world.cluster.fault = () => undefined;
    await world.restart(plan);
    await world.settle();
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['other/one', 'other/two']);
  });

  test('and nothing is released before that is noted', async () => {
    const { world } = await orphanWhile(({ verb, kind }) => verb === 'edit' && kind === 'PodSet');
    assert.deepEqual(world.cluster.takeWrites(), ['edit PodSet/a', 'status PodSet/a']);
    assert.match(world.ready('a'), /^False ApplyFailed/);
    world.cluster.fault = () => undefined;
    await world.runOne('default/a');
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['other/one', 'other/two']);
  });

  test('the note goes with the finalizer, and one of an earlier life says nothing', async () => {
    const { world } = await orphanWhile(() => false);
    assert.deepEqual(podSetOf(world)?.metadata.finalizers, ['orphan']);
    assert.equal(podSetOf(world)?.metadata.annotations?.[note], undefined);
    collect(world);
    await world.settle();
    const { world: other } = await deletionWorld({ children: [farChild('one')] });
    const restored = podSetOf(other);
    assert.ok(restored);
    const annotations = { ...restored.metadata.annotations, [note]: 'an earlier uid' };
    other.edit(restored, { metadata: { ...restored.metadata, annotations } });
    await other.settle();
    await deletePodSet(other);
    assert.deepEqual(placesOf(other, 'ConfigMap'), []);
  });

  test('also when the collector was faster than we', async () => {
    const { world } = await deletionWorld({ children: [farChild('far')] });
    const before = podSetOf(world);
    assert.ok(before);
    const finalizers = ['orphan', finalizer];
    world.edit(before, { metadata: { ...before.metadata, finalizers } });
    await world.settle();
    const said = podSetOf(world);
    assert.ok(said);
    world.remove(said);
    const leaving = podSetOf(world);
    assert.ok(leaving);
    world.edit(leaving, { metadata: { ...leaving.metadata, finalizers: [finalizer] } });
    await world.settle();
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['other/far']);
  });
});
