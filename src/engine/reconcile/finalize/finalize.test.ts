import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import {
  deletePodSet,
  deletionHarness,
  farChild,
  mapChild,
  placesOf,
  podSetOf,
} from '../../../../test/support/fakes/deletion-harness.ts';
import { planOf } from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

const key = 'default/a';
const finalizer = 'homeostat.dev/podset';
const configMapKind = gvkOf('v1', 'ConfigMap');
const far = farChild('far');

describe('reconcile/finalize: deletion', () => {
  test('the children go, then the finalizer; nothing is made and no status is written', async () => {
    const { harness } = await deletionHarness({ children: [far] });
    await deletePodSet(harness);
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
    assert.deepEqual(harness.cluster.takeWrites(), ['delete ConfigMap/far', 'edit PodSet/a']);
  });

  test('what has an owner reference is left to the collector', async () => {
    const { harness } = await deletionHarness({ children: [far, mapChild('near')] });
    await deletePodSet(harness);
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/near']);
  });

  test('other finalizers stay where they are', async () => {
    const { harness } = await deletionHarness({ children: [far] });
    const before = podSetOf(harness);
    assert.ok(before);
    const metadata = { ...before.metadata, finalizers: ['example.com/x', finalizer] };
    harness.edit(before, { metadata });
    await harness.settle();
    await deletePodSet(harness);
    assert.deepEqual(podSetOf(harness)?.metadata.finalizers, ['example.com/x']);
  });

  test('a child with finalizers of its own is waited for, and the resource says so', async () => {
    const { harness } = await deletionHarness({ children: [far] });
    const child = harness.cluster.server.get(configMapKind, 'other', 'far')?.object;
    assert.ok(child);
    harness.cluster.server.put({
      ...child,
      metadata: { ...child.metadata, finalizers: ['example.com/hold'] },
    });
    await harness.settle();
    await deletePodSet(harness);
    assert.equal(
      harness.ready('a'),
      'False Terminating: Waiting for ConfigMap "far" (child "far") to be deleted',
    );
    assert.deepEqual(harness.cluster.takeWrites(), ['delete ConfigMap/far', 'status PodSet/a']);
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.requests, []);
    const leaving = harness.cluster.server.get(configMapKind, 'other', 'far')?.object;
    assert.ok(leaving);
    harness.cluster.server.put({ ...leaving, metadata: { ...leaving.metadata, finalizers: [] } });
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
  });

  test('a deletion that is rejected keeps the resource, which says why', async () => {
    const { harness } = await deletionHarness({ children: [far] });
    harness.cluster.fault = ({ verb }) =>
      verb === 'delete' ? new KubeError('denied', 'not now', { status: 403 }) : undefined;
    await deletePodSet(harness);
    assert.equal(harness.ready('a'), 'False ApplyFailed: far "far": not now');
    assert.ok(podSetOf(harness));
  });

  test('a list that cannot be had is never taken for an empty one', async () => {
    const { harness, plan } = await deletionHarness({ children: [far] });
    const error = new KubeError('unavailable', 'x', { status: 503 });
    harness.cluster.block('ConfigMap', error);
    await harness.restart(plan);
    await deletePodSet(harness);
    assert.ok(podSetOf(harness));
    harness.cluster.unblock('ConfigMap');
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
  });

  test('a child whose creation was never answered does not stay behind', async () => {
    const harness = new OperatorHarness(planOf({ children: [far] }));
    await harness.start();
    // The server makes it, and the answer is lost; no event has come yet when the resource is deleted.
    let turns = 0;
    harness.cluster.pace = async () => {
      const last = harness.cluster.requests.at(-1);
      if (last?.kind !== 'ConfigMap' || last.verb !== 'apply') return;
      if (++turns === 2) throw new KubeError('connection-lost', 'x', { status: 0 });
    };
    harness.podSet('a');
    harness.cluster.deliver();
    await harness.runOne(key);
    harness.cluster.pace = undefined;
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['other/far']);
    const object = podSetOf(harness);
    assert.ok(object);
    harness.remove(object);
    harness.cluster.deliver('PodSet');
    await harness.runOne(key);
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
  });

  test('what was said to be orphaned stays (kubectl delete --cascade=orphan)', async () => {
    const { harness } = await deletionHarness({ children: [far] });
    const before = podSetOf(harness);
    assert.ok(before);
    harness.edit(before, {
      metadata: { ...before.metadata, finalizers: ['orphan', finalizer] },
    });
    await harness.settle();
    await deletePodSet(harness);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['other/far']);
    const labels = harness.cluster.server.get(configMapKind, 'other', 'far')?.object.metadata
      .labels;
    assert.deepEqual(labels, {});
  });
});

describe('reconcile/finalize: a finalizer that is not needed any more', () => {
  test('is removed by the pass that removes the last child, before the cache knows of it', async () => {
    const { harness } = await deletionHarness({ children: [far] });
    harness.formerKinds = [configMapKind];
    await harness.restart(planOf({ children: [] }));
    harness.cluster.takeWrites();
    await harness.runOne(key);
    const writes = harness.cluster.takeWrites();
    assert.deepEqual(
      writes.filter((write) => !write.startsWith('status')),
      ['delete ConfigMap/far', 'edit PodSet/a'],
    );
    assert.equal(podSetOf(harness)?.metadata.finalizers?.length ?? 0, 0);
  });
});
