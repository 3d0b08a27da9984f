import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import {
  deletePodSet,
  deletionHarness,
  mapChild,
  placesOf,
  podSetOf,
  unavailable,
} from '../../../../test/support/fakes/deletion-harness.ts';
import type { HandmadeChild } from '../../../../test/support/fakes/handmade-plan.ts';
import type { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

const key = 'default/a';
const day = 24 * 3_600_000;
const onDelete = { timeoutMs: 60_000, onTimeout: 'Continue' } as const;

/** Lets the time of the deletion go by. */
async function timeOut(harness: OperatorHarness): Promise<void> {
  await harness.clock.advance(60_000);
  await harness.runOne(key);
  await harness.settle();
}

/** Lets an object of somebody's stay while it is being deleted. */
function holdObject(harness: OperatorHarness, name: string): void {
  const object = harness.get('v1', 'ConfigMap', name);
  assert.ok(object);
  harness.edit(object, { metadata: { ...object.metadata, finalizers: ['example.com/hold'] } });
}

describe('reconcile/finalize: "onTimeout: Continue"', () => {
  for (const [what, error] of [
    ['that did not reach the server', unavailable],
    ['that was denied', new KubeError('denied', 'not now', { status: 403 })],
  ] as const) {
    test(`a deletion of a child ${what} is not given up`, async () => {
      const { harness } = await deletionHarness({ children: [mapChild('base')], onDelete });
      const reject = ({ verb }: { readonly verb: string }) =>
        verb === 'delete' ? error : undefined;
      harness.cluster.fault = reject;
      await deletePodSet(harness);
      await timeOut(harness);
      assert.ok(podSetOf(harness));
      harness.cluster.fault = () => undefined;
      await harness.clock.advance(day);
      await harness.runOne(key);
      await harness.settle();
      assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
      assert.equal(podSetOf(harness), undefined);
    });
  }

  test('a kind that cannot be listed is not given up, and what is guarded stays guarded meanwhile', async () => {
    const secret: HandmadeChild = { ...mapChild('secret'), kind: 'Secret' };
    const guarded = mapChild('guarded', { deleteWhen: () => false });
    const { harness, plan } = await deletionHarness({ children: [secret, guarded], onDelete });
    harness.cluster.block('Secret', unavailable);
    await harness.restart(plan);
    await harness.settle();
    await deletePodSet(harness);
    await timeOut(harness);
    assert.ok(podSetOf(harness));
    const live = harness.get('v1', 'ConfigMap', 'guarded');
    assert.equal(live?.metadata.labels?.['homeostat.dev/child'], 'guarded');
    harness.cluster.unblock('Secret');
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'Secret'), []);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/guarded']);
    assert.equal(podSetOf(harness), undefined);
  });

  test('what is on its way out is, and elements of an ordered child go at once then', async () => {
    const steps = mapChild('steps', {
      ordered: true,
      forEach: () => ['a', 'b'],
      template: (_, { item }) => ({ metadata: { name: `step-${item}` } }),
    });
    const { harness } = await deletionHarness({ children: [steps], onDelete });
    holdObject(harness, 'step-b');
    await harness.settle();
    await deletePodSet(harness);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/step-a', 'default/step-b']);
    await timeOut(harness);
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/step-b']);
    assert.ok(harness.get('v1', 'ConfigMap', 'step-b')?.metadata.deletionTimestamp);
  });

  test('its time counts from the first try without an earlier one', async () => {
    const backup = mapChild('backup', { ready: () => false });
    const { harness, plan } = await deletionHarness({
      children: [mapChild('base')],
      onDelete: { ...onDelete, children: [backup] },
    });
    harness.operator.stop();
    const object = podSetOf(harness);
    assert.ok(object);
    harness.remove(object);
    await harness.clock.advance(day);
    harness.cluster.takeWrites();
    await harness.restart(plan);
    await harness.settle();
    assert.ok(harness.cluster.takeWrites().includes('apply ConfigMap/backup'));
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/backup', 'default/base']);
    await harness.clock.advance(30_000);
    // It is counted on by the next process: it does not start again from zero.
    await harness.restart(plan);
    await harness.settle();
    assert.ok(podSetOf(harness));
    await harness.clock.advance(30_000);
    await harness.runOne(key);
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
  });

  test('while that cannot be noted the time does not run', async () => {
    const backup = mapChild('backup', { ready: () => false });
    const { harness, plan } = await deletionHarness({
      children: [mapChild('base')],
      onDelete: { ...onDelete, children: [backup] },
    });
    await harness.clock.advance(day);
    harness.cluster.fault = ({ verb }) => (verb === 'edit' ? unavailable : undefined);
    await harness.restart(plan);
    await deletePodSet(harness);
    await timeOut(harness);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/backup', 'default/base']);
    assert.ok(podSetOf(harness));
  });
});
