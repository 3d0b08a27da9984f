import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperatorPlan } from '#compile';
import { gvkOf } from '#util/gvk.ts';
import {
  type HandmadeChild,
  type HandmadePlan,
  planOf,
} from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

function planWith(
  cascade: HandmadeChild['cascade'],
  changes: Partial<HandmadePlan> = {},
): OperatorPlan {
  const set: HandmadeChild = {
    id: 'set',
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    when: ({ resource }) => resource.spec.on === true,
    ...(cascade && { cascade }),
    template: () => ({ metadata: { name: 'set' } }),
  };
  return planOf({ children: [set], ...changes });
}

async function started(plan: OperatorPlan) {
  const harness = new OperatorHarness(plan);
  await harness.start();
  const resource = harness.podSet('a', { on: true });
  await harness.settle();
  return { harness, resource };
}

describe('reconcile/removal: cascade', () => {
  for (const cascade of ['Orphan', 'Foreground', undefined] as const) {
    const asked = cascade ?? 'Background';

    test(`with ${asked}, an object that is no longer desired is deleted so`, async () => {
      const { harness, resource } = await started(planWith(cascade));
      harness.edit(resource, { spec: { on: false } });
      await harness.settle();
      assert.equal(harness.get('apps/v1', 'Deployment', 'set'), undefined);
      assert.equal(harness.cluster.propagations.get('set'), asked);
    });

    test(`with ${asked}, an object of a child that the definition dropped is deleted so`, async () => {
      const { harness } = await started(planWith(cascade));
      harness.formerKinds = [gvkOf('apps/v1', 'Deployment')];
      await harness.restart(planOf({ children: [] }));
      await harness.settle();
      assert.equal(harness.get('apps/v1', 'Deployment', 'set'), undefined);
      assert.equal(harness.cluster.propagations.get('set'), asked);
    });
  }

  test('the object has no owner reference, so that the garbage collector does not delete its dependents', async () => {
    const { harness, resource } = await started(planWith('Orphan'));
    const { ownerReferences } = harness.get('apps/v1', 'Deployment', 'set')?.metadata ?? {};
    assert.equal(ownerReferences, undefined);
    assert.deepEqual(harness.get('apps.example.com/v1', 'PodSet', 'a')?.metadata.finalizers, [
      'homeostat.dev/podset',
    ]);
    harness.remove(resource);
    await harness.settle();
    assert.equal(harness.get('apps/v1', 'Deployment', 'set'), undefined);
    assert.equal(harness.cluster.propagations.get('set'), 'Orphan');
  });

  test('dependents that are kept are not waited for in an ordered deletion', async () => {
    const { harness, resource } = await started(planWith('Orphan', { onDelete: {} }));
    harness.remove(resource);
    await harness.settle();
    assert.equal(harness.cluster.propagations.get('set'), 'Orphan');
    assert.equal(harness.get('apps.example.com/v1', 'PodSet', 'a'), undefined);
  });
});
