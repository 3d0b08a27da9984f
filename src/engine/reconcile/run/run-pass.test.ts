import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { podSetPlan } from '../../../../test/support/fakes/podset-plan.ts';

async function podSetHarness(): Promise<OperatorHarness> {
  const harness = new OperatorHarness(podSetPlan());
  await harness.start();
  return harness;
}

describe('reconcile/pass', () => {
  test('makes a new resource with one apply and one status write', async () => {
    const harness = await podSetHarness();
    harness.podSet('a', { size: 3 });
    await harness.settle();
    assert.deepEqual(harness.cluster.requests, [
      { verb: 'apply', kind: 'Deployment', name: 'a' },
      { verb: 'status', kind: 'PodSet', name: 'a' },
    ]);
    assert.equal(harness.passes.length, 1);
    const deployment = harness.get('apps/v1', 'Deployment', 'a');
    const { uid, name } = harness.get('apps.example.com/v1', 'PodSet', 'a')!.metadata;
    assert.equal((deployment!.spec as { replicas: number }).replicas, 3);
    assert.deepEqual(deployment!.metadata.ownerReferences, [
      {
        apiVersion: 'apps.example.com/v1',
        kind: 'PodSet',
        name,
        uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    assert.deepEqual(deployment!.metadata.labels, {
      'app.kubernetes.io/managed-by': 'homeostat',
      'homeostat.dev/definition': 'podset',
      'homeostat.dev/child': 'deployment',
      'homeostat.dev/owner-uid': uid,
    });
  });

  test('a second pass is free', async () => {
    const harness = await podSetHarness();
    harness.podSet('a', { size: 3 });
    await harness.settle();
    harness.cluster.takeWrites();
    assert.deepEqual(await harness.runOne('default/a'), { kind: 'done' });
    assert.deepEqual(harness.cluster.requests, []);
    assert.deepEqual(harness.decisions.get('default/a')?.children[0]?.verdict, {
      kind: 'unchanged',
    });
  });

  test('a restart is free', async () => {
    const harness = await podSetHarness();
    harness.podSet('a', { size: 3 });
    harness.podSet('b', { size: 1 });
    await harness.settle();
    harness.cluster.takeWrites();
    await harness.restart(podSetPlan());
    await harness.settle();
    assert.equal(harness.passes.length, 4);
    assert.deepEqual(harness.cluster.requests, []);
  });

  test('an edit of the resource is one apply and one status write', async () => {
    const harness = await podSetHarness();
    const podSet = harness.podSet('a', { size: 3 });
    await harness.settle();
    harness.cluster.takeWrites();
    harness.edit(podSet, { spec: { size: 5 } });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a', 'status PodSet/a']);
    assert.deepEqual(harness.decisions.get('default/a')?.children[0]?.verdict, {
      kind: 'applied',
      fields: ['spec.replicas'],
    });
    assert.equal(harness.status('a').observedGeneration, 2);
  });
});
