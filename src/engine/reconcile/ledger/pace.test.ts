import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type HandmadeChild, planOf } from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { podSetPlan } from '../../../../test/support/fakes/podset-plan.ts';

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
async function feed(harness: OperatorHarness, value: string): Promise<void> {
  const metadata = { name: 'source', namespace: 'default' };
  harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } });
  await harness.settle();
}

function shown(harness: OperatorHarness): unknown {
  const data = harness.get('v1', 'ConfigMap', 'mirror')?.data;
  return (data as { value?: string } | undefined)?.value;
}

/** A resource that has just written in twenty passes. */
async function caughtHarness() {
  const harness = new OperatorHarness(plan);
  await harness.start();
  await feed(harness, '0');
  const podSet = harness.podSet('a');
  await harness.settle();
  for (let round = 1; round < 20; round++) {
    await harness.clock.advance(100);
    await feed(harness, String(round));
    assert.equal(shown(harness), String(round));
  }
  harness.cluster.takeWrites();
  return { harness, podSet };
}

describe('reconcile/ledger/pace', () => {
  test('after 20 passes that wrote within 60 s a resource runs every 10 s at most, whatever enqueues it, and says so', async () => {
    const { harness } = await caughtHarness();
    for (const value of ['a', 'b', 'c']) await feed(harness, value);
    assert.equal(shown(harness), '19');
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.deepEqual(harness.passes.at(-1)?.end, {
      kind: 'requeue',
      afterMs: 10_000,
      reason: 'Unstable',
    });
    await harness.clock.advance(10_000);
    await harness.runOne(key);
    assert.equal(shown(harness), 'c');
    assert.equal(harness.ready('a'), caught);
    const types = (harness.status('a').conditions as { type: string }[]).map(({ type }) => type);
    assert.deepEqual(types, ['Ready', 'Reconciling']);
    await feed(harness, 'd');
    assert.equal(shown(harness), 'c');
  });

  test('a pass that writes nothing ends it, and the condition is removed', async () => {
    const { harness } = await caughtHarness();
    await feed(harness, 'a');
    for (let passes = 0; passes < 2; passes++) {
      await harness.clock.advance(10_000);
      await harness.runOne(key);
    }
    await harness.settle();
    assert.match(harness.ready('a'), /^True/);
    await feed(harness, 'b');
    assert.equal(shown(harness), 'b');
  });

  test('an edit of the resource runs it at once', async () => {
    const { harness, podSet } = await caughtHarness();
    await feed(harness, 'a');
    assert.equal(shown(harness), '19');
    harness.edit(podSet, { spec: { touched: true } });
    await harness.settle();
    assert.equal(shown(harness), 'a');
  });

  test('twenty passes that wrote in a longer time are nothing', async () => {
    const harness = new OperatorHarness(plan);
    await harness.start();
    await feed(harness, '0');
    harness.podSet('a');
    await harness.settle();
    for (let round = 1; round < 40; round++) {
      await harness.clock.advance(3_200);
      await feed(harness, String(round));
      assert.equal(shown(harness), String(round));
    }
  });

  test('a busy child slows its resource down step by step, and is not called unstable while it is progressing', async () => {
    const harness = new OperatorHarness(podSetPlan());
    await harness.start();
    harness.podSet('a', { size: 100 });
    await harness.settle();
    const report = async (readyReplicas: number) => {
      const deployment = harness.get('apps/v1', 'Deployment', 'a');
      assert.ok(deployment);
      harness.edit(deployment, { status: { readyReplicas } });
      await harness.settle();
    };
    for (let ready = 1; ready < 20; ready++) {
      await report(ready);
      assert.equal(harness.status('a').readyReplicas, ready);
    }
    let ready = 20;
    for (const restMs of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
      await report(ready);
      assert.equal(harness.status('a').readyReplicas, ready - 1);
      assert.deepEqual(harness.passes.at(-1)?.end, {
        kind: 'requeue',
        afterMs: restMs,
        reason: 'Unstable',
      });
      await harness.clock.advance(restMs);
      await harness.runOne(key);
      assert.equal(harness.status('a').readyReplicas, ready);
      assert.match(harness.ready('a'), /^False Progressing/);
      ready++;
    }
  });
});
