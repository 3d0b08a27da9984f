import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planOf } from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';

const plan = planOf({
  reads: [{ id: 'secret', apiVersion: 'v1', kind: 'Secret', name: () => 'secret' }],
  children: [
    {
      id: 'copy',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      readsUsed: ['secret'],
      template: ({ resource }) => ({ metadata: { name: `${resource.metadata.name}-copy` } }),
    },
  ],
});

/** A child for every item. */
const parts = planOf({
  children: [
    {
      id: 'parts',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      forEach: ({ resource }) => resource.spec.items as string[],
      template: ({ resource }, { item }) => ({
        metadata: { name: `${resource.metadata.name}-${item}` },
      }),
    },
  ],
});

describe('reconcile/wake outdated gate', () => {
  test('holds the definition until the last of its watches has been listed again', async () => {
    const world = new OperatorWorld(plan);
    await world.start();
    world.podSet('a');
    await world.settle();
    world.cluster.outage();
    assert.equal(world.isHeld, true);
    assert.deepEqual(
      world.operator.problems().map(({ what, message }) => `${what}: ${message}`),
      ['resources (PodSet)', 'children (v1/ConfigMap)'].map(
        (what) =>
          `${what}: It has not been listed since the server was away; nothing is done until then`,
      ),
    );
    const held: boolean[] = [];
    while (world.cluster.listAgain()) held.push(world.isHeld);
    // The resources, the children, and the object that is read by name.
    assert.deepEqual(held, [true, true, false]);
    assert.deepEqual(world.operator.problems(), []);
  });

  for (const order of [
    ['PodSet', 'ConfigMap'],
    ['ConfigMap', 'PodSet'],
  ]) {
    test(`deletes nothing that a restored world wants, whatever is listed first: ${order}`, async () => {
      const world = new OperatorWorld(parts);
      await world.start();
      const first = world.podSet('a', { items: ['x', 'y'] });
      await world.settle();
      const restore = world.cluster.server.backUp();
      const before = world.get('v1', 'ConfigMap', 'a-x')?.metadata.uid;
      world.edit(first, { spec: { items: ['y', 'z'] } });
      await world.settle();
      assert.deepEqual(world.names('v1', 'ConfigMap'), ['a-y', 'a-z']);
      restore();
      world.cluster.outage();
      for (const kind of order) {
        world.cluster.listAgain(kind);
        if (!world.isHeld) await world.settle();
      }
      await world.settle();
      assert.deepEqual(world.names('v1', 'ConfigMap'), ['a-x', 'a-y']);
      assert.equal(world.get('v1', 'ConfigMap', 'a-x')?.metadata.uid, before);
    });
  }

  test('aborts a pass that is under way', async () => {
    const world = new OperatorWorld(plan);
    await world.start();
    world.podSet('a');
    world.cluster.deliver();
    world.cluster.pace = async () => world.cluster.outage();
    const end = await world.runOne('default/a');
    assert.equal(end.kind, 'thrown');
    assert.equal(world.isHeld, true);
  });

  test('is held from the start on where a watch that others use is outdated', async () => {
    const world = new OperatorWorld(plan);
    world.cluster.acquire({ gvk: plan.definition.kind.gvk });
    await Promise.resolve();
    world.cluster.outage();
    await world.start();
    assert.equal(world.isHeld, true);
    while (world.cluster.listAgain());
    assert.equal(world.isHeld, false);
  });

  test('tells nobody any more once the operator has stopped', async () => {
    const world = new OperatorWorld(plan);
    await world.start();
    world.operator.stop();
    world.cluster.outage();
    assert.equal(world.isHeld, false);
  });
});
