import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import {
  deletionHarness,
  farChild,
  mapChild,
  placesOf,
  podSetOf,
  unavailable,
} from '../../../../test/support/fakes/deletion-harness.ts';

const key = 'default/a';
const finalizersOf = (object: ReturnType<typeof podSetOf>) => object?.metadata.finalizers ?? [];

describe('reconcile/finalize: a definition that is removed with its children', () => {
  test('takes those with an owner reference and those without; the resource stays, and says so', async () => {
    const { harness, plan } = await deletionHarness({
      children: [mapChild('near'), farChild('far')],
    });
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/near', 'other/far']);
    const removed = await harness.retire(plan);
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
    assert.deepEqual([...removed], [key]);
    assert.deepEqual(finalizersOf(podSetOf(harness)), []);
    assert.equal(
      harness.ready('a'),
      'False Terminating: The definition was removed and its created objects are deleted',
    );
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('lets orphans be, without an owner', async () => {
    const { harness, plan } = await deletionHarness({
      children: [mapChild('kept', { deletionPolicy: 'Orphan' })],
    });
    await harness.retire(plan);
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/kept']);
    assert.equal(
      harness.get('v1', 'ConfigMap', 'kept')?.metadata.labels?.['homeostat.dev/owner-uid'],
      undefined,
    );
  });

  test('makes onDelete.children first, once, and takes them last', async () => {
    let isReady = false;
    const onDelete = { children: [mapChild('backup', { ready: () => isReady })] };
    const { harness, plan } = await deletionHarness({ children: [mapChild('near')], onDelete });
    const removed = await harness.retire(plan);
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/backup', 'default/near']);
    assert.match(harness.ready('a'), /^False Terminating: .*"backup"/);
    assert.deepEqual([...removed], []);
    isReady = true;
    await harness.runOne(key);
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
    assert.deepEqual([...removed], [key]);
    harness.cluster.takeWrites();
    await harness.runOne(key);
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('waits for what deleteWhen holds', async () => {
    let mayGo = false;
    const { harness, plan } = await deletionHarness({
      children: [mapChild('guarded', { deleteWhen: () => mayGo })],
    });
    const removed = await harness.retire(plan);
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/guarded']);
    assert.deepEqual([...removed], []);
    assert.equal(
      harness.ready('a'),
      'False Terminating: Waiting for ConfigMap "guarded" (child "guarded") to be deleted: kept until "deleteWhen" is true',
    );
    mayGo = true;
    await harness.runOne(key);
    await harness.settle();
    assert.deepEqual([...removed], [key]);
  });

  test('continues where a process has ended, and tries again what failed', async () => {
    const { harness, plan } = await deletionHarness({ children: [mapChild('a'), mapChild('b')] });
    harness.cluster.fault = ({ verb, name }) =>
      verb === 'delete' && name === 'b' ? unavailable : undefined;
    const first = await harness.retire(plan);
    await harness.settle();
    assert.deepEqual([...first], []);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/b']);
    harness.cluster.fault = () => undefined;
    const second = await harness.retire(plan);
    await harness.settle();
    assert.deepEqual([...second], [key]);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
  });

  test('leaves a resource that is paused alone', async () => {
    const { harness, plan } = await deletionHarness({ children: [mapChild('a')] });
    const resource = podSetOf(harness);
    assert.ok(resource);
    const annotations = { 'homeostat.dev/paused': 'true' };
    harness.edit(resource, { metadata: { ...resource.metadata, annotations } });
    const removed = await harness.retire(plan);
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/a']);
    assert.deepEqual([...removed], []);
  });

  test('makes nothing in a new resource', async () => {
    const { harness, plan } = await deletionHarness({ children: [mapChild('a')] });
    const removed = await harness.retire(plan);
    await harness.settle();
    harness.podSet('b');
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
    assert.deepEqual([...removed].toSorted(), [key, 'default/b']);
  });

  test('takes what its kinds hold when its text is broken, too', async () => {
    const { harness, plan } = await deletionHarness({
      children: [mapChild('near'), farChild('far')],
    });
    harness.formerKinds = [gvkOf('v1', 'ConfigMap')];
    const removed = await harness.retire(plan, { isBroken: true });
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
    assert.deepEqual([...removed], [key]);
  });

  test('whose children are to stay changes nothing in resources that live, and ends those that go', async () => {
    const { harness, plan } = await deletionHarness({ children: [farChild('far')] });
    harness.cluster.takeWrites();
    const removed = await harness.retire(plan, { deletesChildren: false });
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.deepEqual([...removed], [key]);
    const resource = podSetOf(harness);
    assert.ok(resource);
    harness.remove(resource);
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
  });
});
