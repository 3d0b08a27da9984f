import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type HandmadeChild,
  planOf,
  type View,
} from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { deploymentChild } from '../../../test/support/fakes/podset-plan.ts';

/** A ConfigMap that comes after the Deployment, with `spec.text` in it. */
const after: HandmadeChild = {
  id: 'config',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  tier: 1,
  after: ['deployment'],
  template: ({ resource }) => ({
    metadata: { name: 'config' },
    data: { text: resource.spec.text as string },
  }),
};

async function worldOf(children: readonly HandmadeChild[] = [deploymentChild, after]) {
  const world = new OperatorWorld(planOf({ children }));
  await world.start();
  const podSet = world.podSet('a', { size: 1, text: 'one' });
  await world.settle();
  return { world, podSet };
}

/** What the deployment controller reports. */
function report(world: OperatorWorld, ready: boolean): void {
  const deployment = world.get('apps/v1', 'Deployment', 'a')!;
  const replicas = ready ? 1 : 0;
  world.edit(deployment, {
    status: {
      observedGeneration: deployment.metadata.generation,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: replicas,
      availableReplicas: replicas,
      conditions: [
        { type: 'Available', status: ready ? 'True' : 'False' },
        { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
      ],
    },
  });
}

/** Its child was made, and what it comes after is not ready any more. */
async function heldWorld() {
  const made = await worldOf();
  report(made.world, true);
  await made.world.settle();
  report(made.world, false);
  await made.world.settle();
  return made;
}

function textOf(world: OperatorWorld): unknown {
  return (world.get('v1', 'ConfigMap', 'config')?.data as { text: string } | undefined)?.text;
}

describe('reconcile/child after', () => {
  test('a child is made when what it comes after is ready, and the wait is reported', async () => {
    const { world } = await worldOf();
    assert.equal(textOf(world), undefined);
    assert.deepEqual(world.decisions.get('default/a')?.children[1]?.verdict, {
      kind: 'waiting',
      on: ['children.deployment to be ready'],
    });
    report(world, true);
    await world.settle();
    assert.equal(textOf(world), 'one');
    assert.equal(world.ready('a'), 'True AllReady: All children are ready');
  });

  test('a change of intent is held, and released when that is ready', async () => {
    const { world, podSet } = await heldWorld();
    world.edit(podSet, { spec: { size: 1, text: 'two' } });
    await world.settle();
    assert.equal(textOf(world), 'one');
    report(world, true);
    await world.settle();
    assert.equal(textOf(world), 'two');
  });

  test('drift of what was applied is repaired meanwhile', async () => {
    const { world } = await heldWorld();
    world.edit(world.get('v1', 'ConfigMap', 'config')!, { data: { text: 'drift' } });
    await world.settle();
    assert.equal(textOf(world), 'one');
  });

  test('drift is repaired to what was applied last, also when the intent has changed since', async () => {
    const { world, podSet } = await heldWorld();
    world.edit(podSet, { spec: { size: 1, text: 'two' } });
    await world.settle();
    world.edit(world.get('v1', 'ConfigMap', 'config')!, { data: { text: 'drift' } });
    await world.settle();
    assert.equal(textOf(world), 'one');
    assert.match(
      world.ready('a'),
      /^False Waiting: config "config": Waiting for children.deployment/,
    );
    report(world, true);
    await world.settle();
    assert.equal(textOf(world), 'two');
  });

  test('nothing is deleted because it is held', async () => {
    const { world } = await heldWorld();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['config']);
  });

  const waiting = [
    ['a child', {}],
    ['the elements of a list', { forEach: (view: View) => [view.read('settings') && 'x'] }],
  ] as const;
  for (const [what, changes] of waiting) {
    test(`drift of ${what} that waits for a read is repaired too`, async () => {
      const reader: HandmadeChild = {
        id: 'reader',
        apiVersion: 'v1',
        kind: 'ConfigMap',
        readsUsed: ['settings'],
        template: (view) => ({
          metadata: { name: 'reader' },
          data: view.read('settings')?.data as Record<string, string>,
        }),
        ...changes,
      };
      const settings = { id: 'settings', apiVersion: 'v1', kind: 'Secret', name: () => 's' };
      const world = new OperatorWorld(planOf({ reads: [settings], children: [reader] }));
      await world.start();
      const metadata = { name: 's', namespace: 'default' };
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { text: 'one' } };
      world.cluster.server.put(secret);
      world.podSet('a');
      await world.settle();
      world.remove(secret);
      await world.settle();
      assert.match(world.ready('a'), /^False Waiting/);
      world.edit(world.get('v1', 'ConfigMap', 'reader')!, { data: { text: 'drift' } });
      await world.settle();
      assert.deepEqual(world.get('v1', 'ConfigMap', 'reader')?.data, { text: 'one' });
      assert.match(world.ready('a'), /^False Waiting/);
      world.cluster.takeWrites();
      await world.runOne('default/a');
      assert.deepEqual(world.cluster.takeWrites(), []);
    });
  }

  test('a child that is not wanted holds nothing', async () => {
    const { world } = await worldOf([{ ...deploymentChild, when: () => false }, after]);
    assert.equal(textOf(world), 'one');
  });
});
