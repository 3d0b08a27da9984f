import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExpressionInput, OperatorPlan, Rendered } from '#compile';
import { KubeError } from '#kube/roles.ts';
import {
  deletePodSet,
  deletionHarness,
  deletionHarnessOf,
  mapChild,
  placesOf,
  podSetOf,
  unavailable,
} from '../../../../test/support/fakes/deletion-harness.ts';
import {
  type HandmadeChild,
  type HandmadePlan,
  planOf,
} from '../../../../test/support/fakes/handmade-plan.ts';

const users: HandmadeChild = {
  id: 'users',
  apiVersion: 'v1',
  kind: 'Secret',
  tier: 1,
  forEach: () => ['x'],
  template: () => ({ metadata: { name: 'x' } }),
};

/** `deleteWhen: $count(children.users) = 0`, on every child that has a `deleteWhen`. */
function askingForUsers(plan: HandmadePlan): OperatorPlan {
  const compiled = planOf(plan);
  return {
    ...compiled,
    startPhase(input) {
      const phase = compiled.startPhase(input);
      let seen: ExpressionInput | undefined;
      const setChild = phase.setChild.bind(phase);
      phase.setChild = (id, child) => {
        if (id === 'users') seen = child;
        setChild(id, child);
      };
      phase.deleteWhen = async (): Promise<Rendered<boolean>> => {
        if (seen?.state === 'waiting') return { kind: 'waiting', on: [seen.on] };
        const isNone = seen?.state !== 'present' || (Array.isArray(seen.value) && !seen.value[0]);
        return { kind: 'value', value: isNone };
      };
      return phase;
    },
  };
}

describe('reconcile/finalize: a deletion while a kind cannot be listed', () => {
  const guarded = { children: [users, mapChild('volume', { deleteWhen: () => true })] };

  test('"deleteWhen" waits for the list: what is not known is not gone', async () => {
    const { harness, plan } = await deletionHarnessOf(askingForUsers(guarded));
    assert.deepEqual(placesOf(harness, 'Secret'), ['default/x']);
    harness.cluster.block('Secret', unavailable);
    await harness.restart(plan);
    await harness.settle();
    await deletePodSet(harness);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/volume']);
    assert.match(JSON.stringify(harness.status('a').children), /the list of Secret objects/);
  });

  test('a kind that the server does not serve has no objects', async () => {
    const { harness, plan } = await deletionHarnessOf(askingForUsers(guarded));
    harness.cluster.block('Secret', new KubeError('kind-missing', 'x', { status: 404 }));
    await harness.restart(plan);
    await harness.settle();
    await deletePodSet(harness);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
    assert.equal(podSetOf(harness), undefined);
  });

  test('with "order: Reverse" nothing is deleted: the dependents may be of that kind', async () => {
    const { harness, plan } = await deletionHarness({
      children: [mapChild('base'), users],
      onDelete: {},
    });
    harness.cluster.block('Secret', unavailable);
    await harness.restart(plan);
    await harness.settle();
    await deletePodSet(harness);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/base']);
    harness.cluster.unblock('Secret');
    await harness.settle();
    assert.deepEqual(
      harness.cluster.takeWrites().filter((write) => write.startsWith('delete')),
      ['delete Secret/x', 'delete ConfigMap/base'],
    );
    assert.equal(podSetOf(harness), undefined);
  });

  test('with "order: Parallel" only what "onDelete" has made stays until all else is known to be gone', async () => {
    const { harness, plan } = await deletionHarness({
      children: [mapChild('base'), users],
      onDelete: { order: 'Parallel', children: [mapChild('backup', { ready: () => isDone })] },
    });
    let isDone = false;
    await deletePodSet(harness);
    harness.cluster.block('Secret', unavailable);
    await harness.restart(plan);
    isDone = true;
    await harness.runOne('default/a');
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/backup']);
    harness.cluster.unblock('Secret');
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
    assert.equal(podSetOf(harness), undefined);
  });
});
