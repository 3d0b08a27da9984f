import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { Failing } from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { deploymentChild, podSetPlan } from '../../../../test/support/fakes/podset-plan.ts';

const key = 'default/a';

/** Idle, with one PodSet that has seen its Deployment. */
async function atRest() {
  const harness = new OperatorHarness(podSetPlan());
  await harness.start();
  harness.podSet('a', { size: 3 });
  await harness.settle();
  harness.passes.length = 0;
  harness.cluster.takeWrites();
  const podSet = harness.get('apps.example.com/v1', 'PodSet', 'a')!;
  const deployment = harness.get('apps/v1', 'Deployment', 'a')!;
  return { harness, podSet, deployment };
}

/** How often the resource runs when an object is edited so. */
async function runsAfter(
  which: 'podSet' | 'deployment',
  change: (object: KubeObject) => Readonly<Record<string, unknown>>,
): Promise<number> {
  const harness = await atRest();
  const object = harness[which];
  harness.harness.edit(object, change(object));
  await harness.harness.settle();
  return harness.harness.passes.length;
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
    const harness = new OperatorHarness(podSetPlan());
    await harness.start();
    harness.podSet('a', { size: 3 });
    harness.cluster.deliver();
    await harness.runOne(key);
    assert.deepEqual([...harness.queued.keys()], []);
    harness.cluster.deliver();
    assert.deepEqual([...harness.queued.keys()], []);
  });

  test('a child that lost its owner while it was held enqueues its resource by its label', async () => {
    const harness = new OperatorHarness(
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
    await harness.start();
    const podSet = harness.podSet('a', { size: 1 });
    await harness.settle();
    harness.edit(podSet, { spec: { size: 1, broken: true } });
    await harness.settle();
    const config = harness.get('v1', 'ConfigMap', 'config')!;
    harness.edit(config, { metadata: { ...config.metadata, ownerReferences: [] } });
    await harness.settle();
    harness.passes.length = 0;
    harness.remove(config);
    await harness.settle();
    assert.equal(harness.passes.length, 1);
    assert.match(harness.ready('a'), /RenderFailed: config: /);
  });

  test('resources that are there at the start run with low priority, live ones do not', async () => {
    const harness = new OperatorHarness(podSetPlan());
    harness.podSet('a', { size: 3 });
    harness.cluster.deliver();
    await harness.start();
    assert.deepEqual([...harness.queued], [[key, 'low']]);
    harness.podSet('b', { size: 3 });
    harness.cluster.deliver();
    assert.equal(harness.queued.get('default/b'), 'normal');
    assert.equal(harness.operator.instances, 2);
  });

  test('a resource that is gone leaves nothing behind', async () => {
    const { harness, podSet, deployment } = await atRest();
    harness.remove(podSet);
    harness.remove(deployment);
    await harness.settle();
    assert.equal(harness.operator.instances, 0);
    assert.deepEqual(harness.cluster.requests, []);
    harness.podSet('a', { size: 1 });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a', 'status PodSet/a']);
  });

  test('stopped, it watches nothing', async () => {
    const { harness } = await atRest();
    assert.equal(harness.cluster.watched.length, 2);
    harness.operator.stop();
    assert.deepEqual(harness.cluster.watched, []);
  });
});
