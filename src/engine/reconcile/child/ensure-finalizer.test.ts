import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import {
  deletionHarness,
  farChild,
  inventoryOf,
  mapChild,
  placesOf,
  podSetOf,
} from '../../../../test/support/fakes/deletion-harness.ts';
import { planOf } from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

const key = 'default/a';
const finalizer = 'homeostat.dev/podset';
const far = farChild('far');

describe('reconcile/finalize: finalizer and inventory', () => {
  test('a new resource costs one apply for it, one for each child, and one for the status that has the inventory', async () => {
    const { harness } = await deletionHarness({ children: [mapChild('near'), far] });
    const { metadata } = podSetOf(harness) ?? {};
    assert.deepEqual(metadata?.finalizers, [finalizer]);
    assert.equal(metadata?.annotations?.['inventory.homeostat.dev/podset'], undefined);
    assert.deepEqual(inventoryOf(harness), ['ConfigMap other/far']);
    assert.deepEqual(harness.cluster.takeWrites(), [
      'apply PodSet/a',
      'apply ConfigMap/near',
      'apply ConfigMap/far',
      'status PodSet/a',
    ]);
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.requests, []);
  });

  test('are not there while no such child is wanted', async () => {
    const { harness } = await deletionHarness({
      children: [{ ...far, when: () => false }, mapChild('near')],
    });
    assert.equal(podSetOf(harness)?.metadata.finalizers, undefined);
  });

  test('say what is there now', async () => {
    const { harness } = await deletionHarness({ children: [far] });
    const secret = { ...far, id: 'secret', kind: 'Secret' };
    await harness.restart(planOf({ children: [secret] }));
    await harness.settle();
    assert.deepEqual(inventoryOf(harness), ['Secret other/far']);
  });

  test('that cannot be written keep the child from being made, and the resource says why', async () => {
    const harness = new OperatorHarness(planOf({ children: [far, mapChild('near')] }));
    await harness.start();
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'PodSet'
        ? new KubeError('rejected', 'metadata.finalizers: no', { status: 422 })
        : undefined;
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/near']);
    assert.equal(harness.ready('a'), 'False ApplyFailed: far: finalizer: metadata.finalizers: no');
  });

  test('are taken off when the definition needs them no more, and what needed them is gone', async () => {
    const { harness } = await deletionHarness({ children: [far] });
    await harness.restart(planOf({ children: [mapChild('near')] }));
    // What is watched is known from the CRD after a restart; here from the kind that both have.
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/near']);
    const { metadata } = podSetOf(harness) ?? {};
    assert.deepEqual(metadata?.finalizers ?? [], []);
    assert.equal(inventoryOf(harness), undefined);
    await harness.runOne(key);
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.requests, []);
  });
});
