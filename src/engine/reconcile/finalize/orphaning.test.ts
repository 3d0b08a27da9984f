import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type DeletionHarness,
  deletePodSet,
  deletionHarness,
  farChild,
  placesOf,
  podSetOf,
  unavailable,
} from '../../../../test/support/fakes/deletion-harness.ts';
import type { FakeRequest } from '../../../../test/support/fakes/fake-cluster.ts';
import type { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

const finalizer = 'homeostat.dev/podset';
const note = 'orphan.homeostat.dev/podset';

/** Somebody deletes the resource with `--cascade=orphan`; the server does not take writes of `failing` meanwhile. */
async function orphanWhile(failing: (request: FakeRequest) => boolean): Promise<DeletionHarness> {
  const made = await deletionHarness({ children: [farChild('one'), farChild('two')] });
  const { harness } = made;
  const before = podSetOf(harness);
  assert.ok(before);
  const finalizers = ['orphan', ...(before.metadata.finalizers ?? [])];
  harness.edit(before, { metadata: { ...before.metadata, finalizers } });
  await harness.settle();
  harness.cluster.fault = (request) => (failing(request) ? unavailable : undefined);
  await deletePodSet(harness);
  return made;
}

/** The garbage collector has dropped what it has cached. */
function collect(harness: OperatorHarness): void {
  const object = podSetOf(harness);
  assert.ok(object);
  const finalizers = object.metadata.finalizers?.filter((each) => each !== 'orphan') ?? [];
  harness.edit(object, { metadata: { ...object.metadata, finalizers } });
}

describe('reconcile/finalize: what a deletion was said to leave stays', () => {
  test('also when another process continues with it', async () => {
    const { harness, plan } = await orphanWhile(
      ({ verb, kind }) => verb === 'edit' && kind === 'ConfigMap',
    );
    assert.equal(podSetOf(harness)?.metadata.annotations?.[note], podSetOf(harness)?.metadata.uid);
    collect(harness);
    harness.cluster.fault = () => undefined;
    await harness.restart(plan);
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['other/one', 'other/two']);
  });

  test('and nothing is released before that is noted', async () => {
    const { harness } = await orphanWhile(({ verb, kind }) => verb === 'edit' && kind === 'PodSet');
    assert.deepEqual(harness.cluster.takeWrites(), ['edit PodSet/a', 'status PodSet/a']);
    assert.match(harness.ready('a'), /^False ApplyFailed/);
    harness.cluster.fault = () => undefined;
    await harness.runOne('default/a');
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['other/one', 'other/two']);
  });

  test('the note is removed with the finalizer, and one of an earlier life says nothing', async () => {
    const { harness } = await orphanWhile(() => false);
    assert.deepEqual(podSetOf(harness)?.metadata.finalizers, ['orphan']);
    assert.equal(podSetOf(harness)?.metadata.annotations?.[note], undefined);
    collect(harness);
    await harness.settle();
    const { harness: other } = await deletionHarness({ children: [farChild('one')] });
    const restored = podSetOf(other);
    assert.ok(restored);
    const annotations = { ...restored.metadata.annotations, [note]: 'an earlier uid' };
    other.edit(restored, { metadata: { ...restored.metadata, annotations } });
    await other.settle();
    await deletePodSet(other);
    assert.deepEqual(placesOf(other, 'ConfigMap'), []);
  });

  test('also when the collector was faster than we', async () => {
    const { harness } = await deletionHarness({ children: [farChild('far')] });
    const before = podSetOf(harness);
    assert.ok(before);
    const finalizers = ['orphan', finalizer];
    harness.edit(before, { metadata: { ...before.metadata, finalizers } });
    await harness.settle();
    const said = podSetOf(harness);
    assert.ok(said);
    harness.remove(said);
    const leaving = podSetOf(harness);
    assert.ok(leaving);
    harness.edit(leaving, { metadata: { ...leaving.metadata, finalizers: [finalizer] } });
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['other/far']);
  });
});
