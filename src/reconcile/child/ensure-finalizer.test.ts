import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  deletionWorld,
  farChild,
  inventoryOf,
  mapChild,
  placesOf,
  podSetOf,
} from '../../../test/support/fakes/deletion-world.ts';
import { planOf } from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { KubeError } from '../../kube/roles.ts';

const key = 'default/a';
const finalizer = 'homeostat.dev/podset';
const far = farChild('far');

describe('reconcile/finalize: finalizer and inventory', () => {
  test('a new resource costs one apply for it, one for each child, and one for the status that has the inventory', async () => {
    const { world } = await deletionWorld({ children: [mapChild('near'), far] });
    const { metadata } = podSetOf(world) ?? {};
    assert.deepEqual(metadata?.finalizers, [finalizer]);
    assert.equal(metadata?.annotations?.['inventory.homeostat.dev/podset'], undefined);
    assert.deepEqual(inventoryOf(world), ['ConfigMap other/far']);
    assert.deepEqual(world.cluster.takeWrites(), [
      'apply PodSet/a',
      'apply ConfigMap/near',
      'apply ConfigMap/far',
      'status PodSet/a',
    ]);
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
  });

  test('are not there while no such child is wanted', async () => {
    const { world } = await deletionWorld({
      children: [{ ...far, when: () => false }, mapChild('near')],
    });
    assert.equal(podSetOf(world)?.metadata.finalizers, undefined);
  });

  test('say what is there now', async () => {
    const { world } = await deletionWorld({ children: [far] });
    const secret = { ...far, id: 'secret', kind: 'Secret' };
    await world.restart(planOf({ children: [secret] }));
    await world.settle();
    assert.deepEqual(inventoryOf(world), ['Secret other/far']);
  });

  test('that cannot be written keep the child from being made, and the resource says why', async () => {
    const world = new OperatorWorld(planOf({ children: [far, mapChild('near')] }));
    await world.start();
    world.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'PodSet'
        ? new KubeError('rejected', 'metadata.finalizers: no', { status: 422 })
        : undefined;
    world.podSet('a');
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/near']);
    assert.equal(world.ready('a'), 'False ApplyFailed: far: finalizer: metadata.finalizers: no');
  });

  test('are taken off when the definition needs them no more, and what needed them is gone', async () => {
    const { world } = await deletionWorld({ children: [far] });
    await world.restart(planOf({ children: [mapChild('near')] }));
    // What is watched is told by the CRD after a restart; here by the kind that both have.
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/near']);
    const { metadata } = podSetOf(world) ?? {};
    assert.deepEqual(metadata?.finalizers ?? [], []);
    assert.equal(inventoryOf(world), undefined);
    await world.runOne(key);
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
  });
});
