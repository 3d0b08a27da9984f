import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperatorPlan } from '#compile';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { podSetPlan } from '../../../../test/support/fakes/podset-plan.ts';

const key = 'default/a';

/** A harness in which each of the first `edits` applies is followed by an edit of its PodSet before the pass reports. */
async function editedWhileApplied(edits: number, plan: OperatorPlan = podSetPlan()) {
  const harness = new OperatorHarness(plan);
  await harness.start();
  const podSet = harness.podSet('a', { size: 0 });
  let size = 0;
  harness.cluster.fault = ({ verb }) => {
    if (verb !== 'apply' || size === edits) return undefined;
    size += 1;
    harness.edit(podSet, { spec: { size } });
    harness.cluster.deliver();
    return undefined;
  };
  await harness.settle();
  return harness;
}

describe('reconcile/report: a report that news have overtaken', () => {
  test('is left to the pass that follows, which reports once for both', async () => {
    const harness = await editedWhileApplied(1);
    assert.deepEqual(harness.cluster.takeWrites(), [
      'apply Deployment/a',
      'apply Deployment/a',
      'status PodSet/a',
    ]);
    assert.equal(harness.status('a').observedGeneration, 2);
    assert.equal(harness.decisions.get(key)?.status, 'written');
  });

  test('is written all the same when it has been left three times in a row', async () => {
    const harness = await editedWhileApplied(9);
    const writes = harness.cluster.takeWrites();
    assert.equal(writes.filter((write) => write === 'apply Deployment/a').length, 10);
    assert.deepEqual(
      writes.flatMap((write, index) => (write === 'status PodSet/a' ? [index] : [])),
      [4, 9, 12],
    );
    assert.equal(harness.status('a').observedGeneration, 10);
  });

  test('a resource that is edited again and again is not taken for one that does not come to rest', async () => {
    const harness = await editedWhileApplied(30);
    assert.match(harness.ready('a'), /^False Progressing/);
    assert.deepEqual(
      harness.passes.filter(({ end }) => end.kind !== 'done'),
      [],
    );
  });
});
