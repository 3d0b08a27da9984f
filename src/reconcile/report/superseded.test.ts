import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { podSetPlan } from '../../../test/support/fakes/podset-plan.ts';
import type { OperatorPlan } from '../../compile/index.ts';

const key = 'default/a';

/** A world in which each of the first `edits` applies is followed by an edit of its PodSet before the pass reports. */
async function editedWhileApplied(edits: number, plan: OperatorPlan = podSetPlan()) {
  const world = new OperatorWorld(plan);
  await world.start();
  const podSet = world.podSet('a', { size: 0 });
  let size = 0;
  world.cluster.fault = ({ verb }) => {
    if (verb !== 'apply' || size === edits) return undefined;
    size += 1;
    world.edit(podSet, { spec: { size } });
    world.cluster.deliver();
    return undefined;
  };
  await world.settle();
  return world;
}

describe('reconcile/report: a report that news have overtaken', () => {
  test('is left to the pass that follows, which reports once for both', async () => {
    const world = await editedWhileApplied(1);
    assert.deepEqual(world.cluster.takeWrites(), [
      'apply Deployment/a',
      'apply Deployment/a',
      'status PodSet/a',
    ]);
    assert.equal(world.status('a').observedGeneration, 2);
    assert.equal(world.decisions.get(key)?.status, 'written');
  });

  test('is written all the same when it has been left three times in a row', async () => {
    const world = await editedWhileApplied(9);
    const writes = world.cluster.takeWrites();
    assert.equal(writes.filter((write) => write === 'apply Deployment/a').length, 10);
    assert.deepEqual(
      writes.flatMap((write, index) => (write === 'status PodSet/a' ? [index] : [])),
      [4, 9, 12],
    );
    assert.equal(world.status('a').observedGeneration, 10);
  });

  test('a resource that is edited again and again is not taken for one that does not come to rest', async () => {
    const world = await editedWhileApplied(30);
    assert.match(world.ready('a'), /^False Progressing/);
    assert.deepEqual(
      world.passes.filter(({ end }) => end.kind !== 'done'),
      [],
    );
  });
});
