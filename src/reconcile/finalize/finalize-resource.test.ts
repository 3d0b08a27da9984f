import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  deletionWorld,
  farChild,
  mapChild,
  placesOf,
  podSetOf,
  unavailable,
} from '../../../test/support/fakes/deletion-world.ts';
import { gvkOf } from '../../util/gvk.ts';

const key = 'default/a';
const finalizersOf = (object: ReturnType<typeof podSetOf>) => object?.metadata.finalizers ?? [];

describe('reconcile/finalize: a definition that is removed with its children', () => {
  test('takes those with an owner reference and those without; the resource stays, and says so', async () => {
    const { world, plan } = await deletionWorld({ children: [mapChild('near'), farChild('far')] });
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/near', 'other/far']);
    const removed = await world.retire(plan);
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
    assert.deepEqual([...removed], [key]);
    assert.deepEqual(finalizersOf(podSetOf(world)), []);
    assert.equal(
      world.ready('a'),
      'False Terminating: The definition was removed and its created objects are deleted',
    );
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('lets orphans be, without an owner', async () => {
    const { world, plan } = await deletionWorld({
      children: [mapChild('kept', { deletionPolicy: 'Orphan' })],
    });
    await world.retire(plan);
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/kept']);
    assert.equal(
      world.get('v1', 'ConfigMap', 'kept')?.metadata.labels?.['homeostat.dev/owner-uid'],
      undefined,
    );
  });

  test('makes onDelete.children first, once, and takes them last', async () => {
    let isReady = false;
    const onDelete = { children: [mapChild('backup', { ready: () => isReady })] };
    const { world, plan } = await deletionWorld({ children: [mapChild('near')], onDelete });
    const removed = await world.retire(plan);
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/backup', 'default/near']);
    assert.match(world.ready('a'), /^False Terminating: .*"backup"/);
    assert.deepEqual([...removed], []);
    isReady = true;
    await world.runOne(key);
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
    assert.deepEqual([...removed], [key]);
    world.cluster.takeWrites();
    await world.runOne(key);
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('waits for what deleteWhen holds', async () => {
    let mayGo = false;
    const { world, plan } = await deletionWorld({
      children: [mapChild('guarded', { deleteWhen: () => mayGo })],
    });
    const removed = await world.retire(plan);
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/guarded']);
    assert.deepEqual([...removed], []);
    mayGo = true;
    await world.runOne(key);
    await world.settle();
    assert.deepEqual([...removed], [key]);
  });

  test('continues where a process has ended, and tries again what failed', async () => {
    const { world, plan } = await deletionWorld({ children: [mapChild('a'), mapChild('b')] });
    world.cluster.fault = ({ verb, name }) =>
      verb === 'delete' && name === 'b' ? unavailable : undefined;
    const first = await world.retire(plan);
    await world.settle();
    assert.deepEqual([...first], []);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/b']);
    world.cluster.fault = () => undefined;
    const second = await world.retire(plan);
    await world.settle();
    assert.deepEqual([...second], [key]);
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
  });

  test('leaves a resource that is paused alone', async () => {
    const { world, plan } = await deletionWorld({ children: [mapChild('a')] });
    const resource = podSetOf(world);
    assert.ok(resource);
    const annotations = { 'homeostat.dev/paused': 'true' };
    world.edit(resource, { metadata: { ...resource.metadata, annotations } });
    const removed = await world.retire(plan);
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/a']);
    assert.deepEqual([...removed], []);
  });

  test('makes nothing in a new resource', async () => {
    const { world, plan } = await deletionWorld({ children: [mapChild('a')] });
    const removed = await world.retire(plan);
    await world.settle();
    world.podSet('b');
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
    assert.deepEqual([...removed].toSorted(), [key, 'default/b']);
  });

  test('takes what its kinds hold when its text is broken, too', async () => {
    const { world, plan } = await deletionWorld({ children: [mapChild('near'), farChild('far')] });
    world.formerKinds = [gvkOf('v1', 'ConfigMap')];
    const removed = await world.retire(plan, { isBroken: true });
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
    assert.deepEqual([...removed], [key]);
  });

  test('whose children are to stay changes nothing in resources that live, and ends those that go', async () => {
    const { world, plan } = await deletionWorld({ children: [farChild('far')] });
    world.cluster.takeWrites();
    const removed = await world.retire(plan, { deletesChildren: false });
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
    assert.deepEqual([...removed], [key]);
    const resource = podSetOf(world);
    assert.ok(resource);
    world.remove(resource);
    await world.settle();
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
  });
});
