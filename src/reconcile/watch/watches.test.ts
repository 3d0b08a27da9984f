import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failing } from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { deploymentChild, podSetPlan } from '../../../test/support/fakes/podset-plan.ts';
import type { KubeObject } from '../../util/kube-object.ts';

const key = 'default/a';

/** At rest, with one PodSet that has seen its Deployment. */
async function atRest() {
  const world = new OperatorWorld(podSetPlan());
  await world.start();
  world.podSet('a', { size: 3 });
  await world.settle();
  world.passes.length = 0;
  world.cluster.takeWrites();
  const podSet = world.get('apps.example.com/v1', 'PodSet', 'a')!;
  const deployment = world.get('apps/v1', 'Deployment', 'a')!;
  return { world, podSet, deployment };
}

/** How often the resource runs when an object is edited so. */
async function runsAfter(
  which: 'podSet' | 'deployment',
  change: (object: KubeObject) => Readonly<Record<string, unknown>>,
): Promise<number> {
  const world = await atRest();
  const object = world[which];
  world.world.edit(object, change(object));
  await world.world.settle();
  return world.world.passes.length;
}

const withMeta = (changes: object) => (object: KubeObject) => ({
  metadata: { ...object.metadata, ...changes },
});
const withStatus = (changes: object) => (object: KubeObject) => ({
  status: { ...(object.status as object | undefined), ...changes },
});

describe('reconcile/watch', () => {
  const resourceEdits = [
    ['its spec', () => ({ spec: { size: 4 } }), 1],
    ['its labels', withMeta({ labels: { a: 'b' } }), 1],
    ['its annotations', withMeta({ annotations: { a: 'b' } }), 1],
    ['its finalizers', withMeta({ finalizers: ['example.com/x'] }), 1],
    ['a status field that we write', withStatus({ readyReplicas: 9 }), 1],
    ['a condition of ours', withStatus({ conditions: [] }), 1],
    ['a status field of somebody else', withStatus({ other: 1 }), 0],
  ] as const;
  for (const [what, change, runs] of resourceEdits) {
    test(`a change of ${what} runs the resource ${runs === 1 ? 'once' : 'not at all'}`, async () => {
      assert.equal(await runsAfter('podSet', change), runs);
    });
  }

  const childEdits = [
    ['its spec', () => ({ spec: { replicas: 1 } }), 1],
    ['its labels', withMeta({ labels: {} }), 1],
    ['its annotations', withMeta({ annotations: { a: 'b' } }), 1],
    ['its owners', withMeta({ ownerReferences: [] }), 1],
    ['a status path that the definition reads', withStatus({ readyReplicas: 1 }), 1],
    ['a status path that readiness uses', withStatus({ availableReplicas: 1 }), 1],
    ['another status path', withStatus({ collisionCount: 1 }), 0],
  ] as const;
  for (const [what, change, runs] of childEdits) {
    test(`of a child, a change of ${what} runs the resource ${runs === 1 ? 'once' : 'not at all'}`, async () => {
      assert.equal(await runsAfter('deployment', change), runs);
    });
  }

  test('what a pass writes itself does not run its resource', async () => {
    const world = new OperatorWorld(podSetPlan());
    await world.start();
    world.podSet('a', { size: 3 });
    world.cluster.deliver();
    await world.runOne(key);
    assert.deepEqual([...world.queued.keys()], []);
    world.cluster.deliver();
    assert.deepEqual([...world.queued.keys()], []);
  });

  test('a child that lost its owner while it was held wakes its resource by its label', async () => {
    const world = new OperatorWorld(
      podSetPlan({
        children: [
          deploymentChild,
          {
            id: 'config',
            apiVersion: 'v1',
            kind: 'ConfigMap',
            tier: 1,
            template: ({ resource }) => {
              if (resource.spec.broken) throw new Failing('broken');
              return { metadata: { name: 'config' } };
            },
          },
        ],
      }),
    );
    await world.start();
    const podSet = world.podSet('a', { size: 1 });
    await world.settle();
    world.edit(podSet, { spec: { size: 1, broken: true } });
    await world.settle();
    const config = world.get('v1', 'ConfigMap', 'config')!;
    world.edit(config, { metadata: { ...config.metadata, ownerReferences: [] } });
    await world.settle();
    world.passes.length = 0;
    world.remove(config);
    await world.settle();
    assert.equal(world.passes.length, 1);
    assert.match(world.ready('a'), /RenderFailed: config: /);
  });

  test('resources that are there at the start run with low priority, live ones do not', async () => {
    const world = new OperatorWorld(podSetPlan());
    world.podSet('a', { size: 3 });
    world.cluster.deliver();
    await world.start();
    assert.deepEqual([...world.queued], [[key, 'low']]);
    world.podSet('b', { size: 3 });
    world.cluster.deliver();
    assert.equal(world.queued.get('default/b'), 'normal');
    assert.equal(world.operator.instances, 2);
  });

  test('a resource that is gone leaves nothing behind', async () => {
    const { world, podSet, deployment } = await atRest();
    world.remove(podSet);
    world.remove(deployment);
    await world.settle();
    assert.equal(world.operator.instances, 0);
    assert.deepEqual(world.cluster.requests, []);
    world.podSet('a', { size: 1 });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a', 'status PodSet/a']);
  });

  test('stopped, it watches nothing', async () => {
    const { world } = await atRest();
    assert.equal(world.cluster.watched.length, 2);
    world.operator.stop();
    assert.deepEqual(world.cluster.watched, []);
  });
});
