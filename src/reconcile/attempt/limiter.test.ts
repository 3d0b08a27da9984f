import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { View } from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { deploymentChild, podSetPlan } from '../../../test/support/fakes/podset-plan.ts';
import { KubeError, type KubeErrorCode } from '../../kube/roles.ts';

const key = 'default/a';
const right = {
  verb: 'create',
  group: 'apps',
  resource: 'deployments',
  namespace: 'default',
} as const;

function refusal(code: KubeErrorCode): KubeError {
  const more = code === 'forbidden' ? { right: { ...right, name: 'a' } } : {};
  return new KubeError(code, 'no', { status: 422, ...more });
}

/** A PodSet whose Deployment, which also shows a ConfigMap, is refused. */
async function refusedWorld(code: KubeErrorCode = 'rejected') {
  const world = new OperatorWorld(
    podSetPlan({
      reads: [
        {
          id: 'config',
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: () => 'config',
          optional: true,
          pathsRead: [['data']],
        },
      ],
      children: [{ ...deploymentChild, readsUsed: ['config'] }],
    }),
  );
  world.cluster.fault = ({ verb }) => (verb === 'apply' ? refusal(code) : undefined);
  await world.start();
  const podSet = world.podSet('a', { size: 1 });
  await world.settle();
  assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a', 'status PodSet/a']);
  return { world, podSet };
}

describe('reconcile/attempt/limiter', () => {
  for (const code of ['rejected', 'denied', 'forbidden', 'too-large'] as const) {
    test(`what was ${code} is not sent again by passes that change nothing`, async () => {
      const { world } = await refusedWorld(code);
      for (let passes = 0; passes < 3; passes++) await world.runOne(key);
      assert.deepEqual(world.cluster.takeWrites(), []);
      assert.equal(world.passes.at(-1)?.end.kind, 'failed');
    });
  }

  test('a change of the intent has it sent again', async () => {
    const { world, podSet } = await refusedWorld();
    world.edit(podSet, { spec: { size: 2 } });
    await world.settle();
    assert.ok(world.cluster.takeWrites().includes('apply Deployment/a'));
  });

  test('a change of what the resource carries has it sent again, though no expression reads it', async () => {
    const { world, podSet } = await refusedWorld();
    const labels = { team: 'other' };
    world.edit(podSet, { metadata: { ...podSet.metadata, labels } });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a']);
  });

  test('a change of a read has it sent again, and one that nothing reads has not', async () => {
    const { world } = await refusedWorld();
    const metadata = { name: 'config', namespace: 'default' };
    const config = world.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a']);
    world.edit(config.object, { metadata: { ...metadata, labels: { some: 'label' } } });
    await world.settle();
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('retry.permanent has it sent again', async () => {
    const { world } = await refusedWorld();
    await world.clock.advance(599_900);
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
    await world.clock.advance(100);
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a']);
  });

  test('the object that is there is read in the comparison: what a user changed of it may be the cure', async () => {
    const { world, podSet } = await refusedWorld();
    world.cluster.fault = () => undefined;
    world.edit(podSet, { spec: { size: 2 } });
    await world.settle();
    world.cluster.fault = ({ verb }) => (verb === 'apply' ? refusal('rejected') : undefined);
    world.edit(podSet, { spec: { size: 3 } });
    await world.settle();
    world.cluster.takeWrites();
    const deployment = world.get('apps/v1', 'Deployment', 'a');
    assert.ok(deployment);
    world.edit(deployment, { status: { readyReplicas: 1 } });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a']);
    const meddle = async (count: number) => {
      world.edit(deployment, { spec: { ...(deployment.spec as object), replicas: count } });
      await world.settle();
      return world.cluster.takeWrites();
    };
    await world.clock.advance(5_000);
    assert.deepEqual(await meddle(7), ['apply Deployment/a']);
    // But not with each write of somebody who writes all the time.
    assert.deepEqual(await meddle(8), []);
    assert.deepEqual(world.passes.at(-1)?.end, {
      kind: 'failed',
      afterMs: 5_000,
      reason: 'ApplyFailed',
    });
    await world.clock.advance(5_000);
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a']);
    // One that is deleted is made at once.
    world.cluster.fault = () => undefined;
    world.remove(deployment);
    await world.settle();
    assert.ok(world.cluster.takeWrites().includes('apply Deployment/a'));
  });

  test('a right that comes has all that missed it run again, and what was rejected for it sent', async () => {
    const { world } = await refusedWorld('forbidden');
    world.podSet('b', { size: 1 });
    await world.settle();
    // One question for all of them, and not by name.
    assert.deepEqual(world.cluster.rights.wanted, [right]);
    assert.match(
      world.ready('a'),
      /^False Forbidden: deployment "a": The runtime is not allowed to create deployments\.apps in namespace "default"; grant the rule/,
    );
    world.cluster.takeWrites();
    world.cluster.fault = () => undefined;
    world.cluster.rights.grant();
    await world.settle();
    assert.deepEqual(world.names('apps/v1', 'Deployment'), ['a', 'b']);
    assert.deepEqual(world.cluster.rights.wanted, []);
    assert.match(world.ready('a'), /Progressing/);
  });

  test('nothing waits for a right any more when the resource is gone, or the operator stops', async () => {
    const { world, podSet } = await refusedWorld('forbidden');
    world.podSet('b', { size: 1 });
    await world.settle();
    world.remove(podSet);
    await world.settle();
    assert.equal(world.cluster.rights.wanted.length, 1);
    world.operator.stop();
    assert.deepEqual(world.cluster.rights.wanted, []);
  });

  test('a quota is asked for with long delays, and reported as temporary', async () => {
    const { world } = await refusedWorld('quota-exceeded');
    assert.deepEqual(world.passes.at(-1)?.end, {
      kind: 'retry',
      baseDelayMs: 5_000,
      maxDelayMs: 300_000,
      reason: 'ApplyFailed',
    });
    // Events in between do not ask more often.
    await world.clock.advance(4_900);
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
    world.cluster.fault = () => undefined;
    await world.clock.advance(100);
    await world.runOne(key);
    assert.deepEqual(world.names('apps/v1', 'Deployment'), ['a']);
  });

  test('in a namespace that is deleted nothing is reported in Events, and the condition says why', async () => {
    const { world } = await refusedWorld('namespace-terminating');
    assert.equal(
      world.ready('a'),
      'False Terminating: deployment "a": The namespace is being deleted: no objects can be created in it',
    );
    assert.equal(world.passes.at(-1)?.end.kind, 'retry');
    assert.deepEqual(world.cluster.told, []);
  });

  test('a restart asks the server once more, and reports nothing again', async () => {
    const { world } = await refusedWorld();
    assert.equal(world.cluster.told.length, 1);
    await world.restart(podSetPlan());
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a']);
    assert.equal(world.cluster.told.length, 1);
    // Another failure is news.
    world.cluster.fault = ({ verb }) => (verb === 'apply' ? refusal('too-large') : undefined);
    await world.clock.advance(600_000);
    await world.runOne(key);
    assert.equal(world.cluster.told.length, 2);
  });

  test('a deletion that is forbidden is not asked for again before the right comes', async () => {
    const child = { ...deploymentChild, when: ({ resource }: View) => resource.spec.on !== false };
    const world = new OperatorWorld(podSetPlan({ children: [child] }));
    await world.start();
    const podSet = world.podSet('a', { size: 1 });
    await world.settle();
    const missing = { ...right, verb: 'delete' };
    world.cluster.fault = ({ verb }) =>
      verb === 'delete'
        ? new KubeError('forbidden', 'no', { status: 403, right: missing })
        : undefined;
    world.edit(podSet, { spec: { on: false } });
    await world.settle();
    world.cluster.takeWrites();
    for (let passes = 0; passes < 3; passes++) await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
    assert.match(world.ready('a'), /^False Forbidden: .*not allowed to delete deployments\.apps/);
    world.cluster.fault = () => undefined;
    world.cluster.rights.grant();
    await world.settle();
    assert.deepEqual(world.names('apps/v1', 'Deployment'), []);
  });
});
