import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  deletePodSet,
  deletionWorld,
  deletionWorldOf,
  mapChild,
  placesOf,
  podSetOf,
  unavailable,
} from '../../../test/support/fakes/deletion-world.ts';
import {
  type HandmadeChild,
  type HandmadePlan,
  planOf,
} from '../../../test/support/fakes/handmade-plan.ts';
import type { ExpressionInput, OperatorPlan, Rendered } from '../../compile/index.ts';
import { KubeError } from '../../kube/roles.ts';

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
    const { world, plan } = await deletionWorldOf(askingForUsers(guarded));
    assert.deepEqual(placesOf(world, 'Secret'), ['default/x']);
    world.cluster.block('Secret', unavailable);
    await world.restart(plan);
    await world.settle();
    await deletePodSet(world);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/volume']);
    assert.match(JSON.stringify(world.status('a').children), /the list of Secret objects/);
  });

  test('a kind that the server does not serve has no objects', async () => {
    const { world, plan } = await deletionWorldOf(askingForUsers(guarded));
    world.cluster.block('Secret', new KubeError('kind-missing', 'x', { status: 404 }));
    await world.restart(plan);
    await world.settle();
    await deletePodSet(world);
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
    assert.equal(podSetOf(world), undefined);
  });

  test('with "order: Reverse" nothing goes: the dependents may be of that kind', async () => {
    const { world, plan } = await deletionWorld({
      children: [mapChild('base'), users],
      onDelete: {},
    });
    world.cluster.block('Secret', unavailable);
    await world.restart(plan);
    await world.settle();
    await deletePodSet(world);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/base']);
    world.cluster.unblock('Secret');
    await world.settle();
    assert.deepEqual(
      world.cluster.takeWrites().filter((write) => write.startsWith('delete')),
      ['delete Secret/x', 'delete ConfigMap/base'],
    );
    assert.equal(podSetOf(world), undefined);
  });

  test('with "order: Parallel" only what "onDelete" has made stays until all else is known to be gone', async () => {
    const { world, plan } = await deletionWorld({
      children: [mapChild('base'), users],
      onDelete: { order: 'Parallel', children: [mapChild('backup', { ready: () => isDone })] },
    });
    let isDone = false;
    await deletePodSet(world);
    world.cluster.block('Secret', unavailable);
    await world.restart(plan);
    isDone = true;
    await world.runOne('default/a');
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/backup']);
    world.cluster.unblock('Secret');
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
    assert.equal(podSetOf(world), undefined);
  });
});
