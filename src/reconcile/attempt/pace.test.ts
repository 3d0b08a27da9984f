import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type HandmadeChild, planOf } from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { podSetPlan } from '../../../test/support/fakes/podset-plan.ts';

const key = 'default/a';
const caught =
  'False Unstable: 20 reconciles within 60 s wrote its children or status although the resource did not change';

/** A ConfigMap that shows another one. */
const mirror: HandmadeChild = {
  id: 'mirror',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  readsUsed: ['source'],
  template: (view) => ({
    metadata: { name: 'mirror' },
    data: { ...(view.read('source')?.data as object) },
  }),
};

const plan = planOf({
  reads: [
    {
      id: 'source',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: () => 'source',
      pathsRead: [['data']],
    },
  ],
  children: [mirror],
});

/** What another operator makes of our child. */
async function feed(world: OperatorWorld, value: string): Promise<void> {
  const metadata = { name: 'source', namespace: 'default' };
  world.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } });
  await world.settle();
}

function shown(world: OperatorWorld): unknown {
  const data = world.get('v1', 'ConfigMap', 'mirror')?.data;
  return (data as { value?: string } | undefined)?.value;
}

/** A resource that has just written in twenty passes. */
async function caughtWorld() {
  const world = new OperatorWorld(plan);
  await world.start();
  await feed(world, '0');
  const podSet = world.podSet('a');
  await world.settle();
  for (let round = 1; round < 20; round++) {
    await world.clock.advance(100);
    await feed(world, String(round));
    assert.equal(shown(world), String(round));
  }
  world.cluster.takeWrites();
  return { world, podSet };
}

describe('reconcile/attempt/pace', () => {
  test('after 20 passes that wrote within 60 s a resource runs every 10 s at most, whatever enqueues it, and says so', async () => {
    const { world } = await caughtWorld();
    for (const value of ['a', 'b', 'c']) await feed(world, value);
    assert.equal(shown(world), '19');
    assert.deepEqual(world.cluster.takeWrites(), []);
    assert.deepEqual(world.passes.at(-1)?.end, {
      kind: 'requeue',
      afterMs: 10_000,
      reason: 'Unstable',
    });
    await world.clock.advance(10_000);
    await world.runOne(key);
    assert.equal(shown(world), 'c');
    assert.equal(world.ready('a'), caught);
    const types = (world.status('a').conditions as { type: string }[]).map(({ type }) => type);
    assert.deepEqual(types, ['Ready', 'Reconciling']);
    await feed(world, 'd');
    assert.equal(shown(world), 'c');
  });

  test('a pass that writes nothing ends it, and the condition goes', async () => {
    const { world } = await caughtWorld();
    await feed(world, 'a');
    for (let passes = 0; passes < 2; passes++) {
      await world.clock.advance(10_000);
      await world.runOne(key);
    }
    await world.settle();
    assert.match(world.ready('a'), /^True/);
    await feed(world, 'b');
    assert.equal(shown(world), 'b');
  });

  test('an edit of the resource runs it at once', async () => {
    const { world, podSet } = await caughtWorld();
    await feed(world, 'a');
    assert.equal(shown(world), '19');
    world.edit(podSet, { spec: { touched: true } });
    await world.settle();
    assert.equal(shown(world), 'a');
  });

  test('twenty passes that wrote in a longer time are nothing', async () => {
    const world = new OperatorWorld(plan);
    await world.start();
    await feed(world, '0');
    world.podSet('a');
    await world.settle();
    for (let round = 1; round < 40; round++) {
      await world.clock.advance(3_200);
      await feed(world, String(round));
      assert.equal(shown(world), String(round));
    }
  });

  test('a busy child slows its resource down step by step, and is not called unstable while it is progressing', async () => {
    const world = new OperatorWorld(podSetPlan());
    await world.start();
    world.podSet('a', { size: 100 });
    await world.settle();
    const report = async (readyReplicas: number) => {
      const deployment = world.get('apps/v1', 'Deployment', 'a');
      assert.ok(deployment);
      world.edit(deployment, { status: { readyReplicas } });
      await world.settle();
    };
    for (let ready = 1; ready < 20; ready++) {
      await report(ready);
      assert.equal(world.status('a').readyReplicas, ready);
    }
    let ready = 20;
    for (const restMs of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
      await report(ready);
      assert.equal(world.status('a').readyReplicas, ready - 1);
      assert.deepEqual(world.passes.at(-1)?.end, {
        kind: 'requeue',
        afterMs: restMs,
        reason: 'Unstable',
      });
      await world.clock.advance(restMs);
      await world.runOne(key);
      assert.equal(world.status('a').readyReplicas, ready);
      assert.match(world.ready('a'), /^False Progressing/);
      ready++;
    }
  });
});
