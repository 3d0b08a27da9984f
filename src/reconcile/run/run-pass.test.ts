import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { podSetPlan } from '../../../test/support/fakes/podset-plan.ts';

async function podSetWorld(): Promise<OperatorWorld> {
  const world = new OperatorWorld(podSetPlan());
  await world.start();
  return world;
}

describe('reconcile/pass', () => {
  test('makes a new resource with one apply and one status write', async () => {
    const world = await podSetWorld();
    world.podSet('a', { size: 3 });
    await world.settle();
    assert.deepEqual(world.cluster.requests, [
      { verb: 'apply', kind: 'Deployment', name: 'a' },
      { verb: 'status', kind: 'PodSet', name: 'a' },
    ]);
    assert.equal(world.passes.length, 1);
    const deployment = world.get('apps/v1', 'Deployment', 'a');
    const { uid, name } = world.get('apps.example.com/v1', 'PodSet', 'a')!.metadata;
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
    const world = await podSetWorld();
    world.podSet('a', { size: 3 });
    await world.settle();
    world.cluster.takeWrites();
    assert.deepEqual(await world.runOne('default/a'), { kind: 'done' });
    assert.deepEqual(world.cluster.requests, []);
    assert.deepEqual(world.decisions.get('default/a')?.children[0]?.verdict, { kind: 'unchanged' });
  });

  test('a restart is free', async () => {
    const world = await podSetWorld();
    world.podSet('a', { size: 3 });
    world.podSet('b', { size: 1 });
    await world.settle();
    world.cluster.takeWrites();
    await world.restart(podSetPlan());
    await world.settle();
    assert.equal(world.passes.length, 4);
    assert.deepEqual(world.cluster.requests, []);
  });

  test('an edit of the resource is one apply and one status write', async () => {
    const world = await podSetWorld();
    const podSet = world.podSet('a', { size: 3 });
    await world.settle();
    world.cluster.takeWrites();
    world.edit(podSet, { spec: { size: 5 } });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a', 'status PodSet/a']);
    assert.deepEqual(world.decisions.get('default/a')?.children[0]?.verdict, {
      kind: 'applied',
      fields: ['spec.replicas'],
    });
    assert.equal(world.status('a').observedGeneration, 2);
  });
});
