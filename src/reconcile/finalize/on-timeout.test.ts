import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  deletePodSet,
  deletionWorld,
  mapChild,
  placesOf,
  podSetOf,
  unavailable,
} from '../../../test/support/fakes/deletion-world.ts';
import type { HandmadeChild } from '../../../test/support/fakes/handmade-plan.ts';
import type { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { KubeError } from '../../kube/roles.ts';

const key = 'default/a';
const day = 24 * 3_600_000;
const onDelete = { timeoutMs: 60_000, onTimeout: 'Continue' } as const;

/** Lets the time of the deletion go by. */
async function timeOut(world: OperatorWorld): Promise<void> {
  await world.clock.advance(60_000);
  await world.runOne(key);
  await world.settle();
}

/** Lets an object of somebody's stay while it is being deleted. */
function holdObject(world: OperatorWorld, name: string): void {
  const object = world.get('v1', 'ConfigMap', name);
  assert.ok(object);
  world.edit(object, { metadata: { ...object.metadata, finalizers: ['example.com/hold'] } });
}

describe('reconcile/finalize: "onTimeout: Continue"', () => {
  for (const [what, error] of [
    ['that did not reach the server', unavailable],
    ['that was denied', new KubeError('denied', 'not now', { status: 403 })],
  ] as const) {
    test(`a deletion of a child ${what} is not given up`, async () => {
      const { world } = await deletionWorld({ children: [mapChild('base')], onDelete });
      const refuse = ({ verb }: { readonly verb: string }) =>
        verb === 'delete' ? error : undefined;
      world.cluster.fault = refuse;
      await deletePodSet(world);
      await timeOut(world);
      assert.ok(podSetOf(world));
      world.cluster.fault = () => undefined;
      await world.clock.advance(day);
      await world.runOne(key);
      await world.settle();
      assert.deepEqual(placesOf(world, 'ConfigMap'), []);
      assert.equal(podSetOf(world), undefined);
    });
  }

  test('a kind that cannot be listed is not given up, and what is guarded stays guarded meanwhile', async () => {
    const secret: HandmadeChild = { ...mapChild('secret'), kind: 'Secret' };
    const guarded = mapChild('guarded', { deleteWhen: () => false });
    const { world, plan } = await deletionWorld({ children: [secret, guarded], onDelete });
    world.cluster.block('Secret', unavailable);
    await world.restart(plan);
    await world.settle();
    await deletePodSet(world);
    await timeOut(world);
    assert.ok(podSetOf(world));
    const live = world.get('v1', 'ConfigMap', 'guarded');
    assert.equal(live?.metadata.labels?.['homeostat.dev/child'], 'guarded');
    world.cluster.unblock('Secret');
    await world.settle();
    assert.deepEqual(placesOf(world, 'Secret'), []);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/guarded']);
    assert.equal(podSetOf(world), undefined);
  });

  test('what is on its way out is, and elements of an ordered child go at once then', async () => {
    const steps = mapChild('steps', {
      ordered: true,
      forEach: () => ['a', 'b'],
      template: (_, { item }) => ({ metadata: { name: `step-${item}` } }),
    });
    const { world } = await deletionWorld({ children: [steps], onDelete });
    holdObject(world, 'step-b');
    await world.settle();
    await deletePodSet(world);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/step-a', 'default/step-b']);
    await timeOut(world);
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/step-b']);
    assert.ok(world.get('v1', 'ConfigMap', 'step-b')?.metadata.deletionTimestamp);
  });

  test('its time counts from the first try where nobody was there before', async () => {
    const backup = mapChild('backup', { ready: () => false });
    const { world, plan } = await deletionWorld({
      children: [mapChild('base')],
      onDelete: { ...onDelete, children: [backup] },
    });
    world.operator.stop();
    const object = podSetOf(world);
    assert.ok(object);
    world.remove(object);
    await world.clock.advance(day);
    world.cluster.takeWrites();
    await world.restart(plan);
    await world.settle();
    assert.ok(world.cluster.takeWrites().includes('apply ConfigMap/backup'));
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/backup', 'default/base']);
    await world.clock.advance(30_000);
    // It is counted on by the next process: it does not begin anew.
    await world.restart(plan);
    await world.settle();
    assert.ok(podSetOf(world));
    await world.clock.advance(30_000);
    await world.runOne(key);
    await world.settle();
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
  });

  test('while that cannot be noted the time does not run', async () => {
    const backup = mapChild('backup', { ready: () => false });
    const { world, plan } = await deletionWorld({
      children: [mapChild('base')],
      onDelete: { ...onDelete, children: [backup] },
    });
    await world.clock.advance(day);
    world.cluster.fault = ({ verb }) => (verb === 'edit' ? unavailable : undefined);
    await world.restart(plan);
    await deletePodSet(world);
    await timeOut(world);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/backup', 'default/base']);
    assert.ok(podSetOf(world));
  });
});
