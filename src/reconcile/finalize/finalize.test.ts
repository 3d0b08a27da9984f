import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  deletePodSet,
  deletionWorld,
  farChild,
  mapChild,
  placesOf,
  podSetOf,
} from '../../../test/support/fakes/deletion-world.ts';
import { planOf } from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { KubeError } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';

const key = 'default/a';
const finalizer = 'homeostat.dev/podset';
const configMapKind = gvkOf('v1', 'ConfigMap');
const far = farChild('far');

describe('reconcile/finalize: deletion', () => {
  test('the children go, then the finalizer; nothing is made and no status is written', async () => {
    const { world } = await deletionWorld({ children: [far] });
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
    assert.deepEqual(world.cluster.takeWrites(), ['delete ConfigMap/far', 'edit PodSet/a']);
  });

  test('what has an owner reference is left to the collector', async () => {
    const { world } = await deletionWorld({ children: [far, mapChild('near')] });
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/near']);
  });

  test('other finalizers stay where they are', async () => {
    const { world } = await deletionWorld({ children: [far] });
    const before = podSetOf(world);
    assert.ok(before);
    const metadata = { ...before.metadata, finalizers: ['example.com/x', finalizer] };
    world.edit(before, { metadata });
    await world.settle();
    await deletePodSet(world);
    assert.deepEqual(podSetOf(world)?.metadata.finalizers, ['example.com/x']);
  });

  test('a child with finalizers of its own is waited for, and the resource says so', async () => {
    const { world } = await deletionWorld({ children: [far] });
    const child = world.cluster.server.get(configMapKind, 'other', 'far')?.object;
    assert.ok(child);
    world.cluster.server.put({
      ...child,
      metadata: { ...child.metadata, finalizers: ['example.com/hold'] },
    });
    await world.settle();
    await deletePodSet(world);
    assert.equal(
      world.ready('a'),
      'False Terminating: Waiting for ConfigMap "far" (child "far") to be deleted',
    );
    assert.deepEqual(world.cluster.takeWrites(), ['delete ConfigMap/far', 'status PodSet/a']);
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
    const leaving = world.cluster.server.get(configMapKind, 'other', 'far')?.object;
    assert.ok(leaving);
    world.cluster.server.put({ ...leaving, metadata: { ...leaving.metadata, finalizers: [] } });
    await world.settle();
    assert.equal(podSetOf(world), undefined);
  });

  test('a deletion that is rejected keeps the resource, which says why', async () => {
    const { world } = await deletionWorld({ children: [far] });
    world.cluster.fault = ({ verb }) =>
      verb === 'delete' ? new KubeError('denied', 'not now', { status: 403 }) : undefined;
    await deletePodSet(world);
    assert.equal(world.ready('a'), 'False ApplyFailed: far "far": not now');
    assert.ok(podSetOf(world));
  });

  test('a list that cannot be had is never taken for an empty one', async () => {
    const { world, plan } = await deletionWorld({ children: [far] });
    const error = new KubeError('unavailable', 'x', { status: 503 });
    world.cluster.block('ConfigMap', error);
    await world.restart(plan);
    await deletePodSet(world);
    assert.ok(podSetOf(world));
    world.cluster.unblock('ConfigMap');
    await world.settle();
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
  });

  test('a child whose creation was never answered does not stay behind', async () => {
    const world = new OperatorWorld(planOf({ children: [far] }));
    await world.start();
    // The server makes it, and the answer is lost; no event has come yet when the resource is deleted.
    let turns = 0;
    world.cluster.pace = async () => {
      const last = world.cluster.requests.at(-1);
      if (last?.kind !== 'ConfigMap' || last.verb !== 'apply') return;
      if (++turns === 2) throw new KubeError('connection-lost', 'x', { status: 0 });
    };
    world.podSet('a');
    world.cluster.deliver();
    await world.runOne(key);
    world.cluster.pace = undefined;
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['other/far']);
    const object = podSetOf(world);
    assert.ok(object);
    world.remove(object);
    world.cluster.deliver('PodSet');
    await world.runOne(key);
    await world.settle();
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
  });

  test('what was said to be orphaned stays (kubectl delete --cascade=orphan)', async () => {
    const { world } = await deletionWorld({ children: [far] });
    const before = podSetOf(world);
    assert.ok(before);
    world.edit(before, {
      metadata: { ...before.metadata, finalizers: ['orphan', finalizer] },
    });
    await world.settle();
    await deletePodSet(world);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['other/far']);
    const labels = world.cluster.server.get(configMapKind, 'other', 'far')?.object.metadata.labels;
    assert.deepEqual(labels, {});
  });
});
