import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { podSetPlan, secretChild } from '../../../../test/support/fakes/podset-plan.ts';

const key = 'default/a';
const contested =
  'False Contested: deployment "a": "homeostat/podset" and "scaler" overwrite each other in spec.replicas: Homeostat reverts the change with growing delays until one of them stops';

function replicas(harness: OperatorHarness): unknown {
  const spec = harness.get('apps/v1', 'Deployment', 'a')?.spec as { replicas?: number } | undefined;
  return spec?.replicas;
}

/** Another manager sets the number of replicas. */
async function scale(harness: OperatorHarness, count: number): Promise<void> {
  const deployment = harness.get('apps/v1', 'Deployment', 'a');
  assert.ok(deployment);
  const spec = { ...(deployment.spec as object), replicas: count };
  harness.cluster.server.put({ ...deployment, spec }, 'scaler');
  await harness.settle();
}

/** A PodSet of three, whose Deployment has been reverted `times` times, a second apart. */
async function fought(times: number) {
  const harness = new OperatorHarness(podSetPlan());
  await harness.start();
  const podSet = harness.podSet('a', { size: 3 });
  await harness.settle();
  for (let round = 0; round < times; round++) {
    await harness.clock.advance(1_000);
    await scale(harness, 10 + round);
    assert.equal(replicas(harness), 3);
  }
  harness.cluster.takeWrites();
  return { harness, podSet };
}

describe('reconcile/attempt ownership conflicts', () => {
  test('a field that another manager sets again and again is left to it for a while, and both are reported', async () => {
    const { harness } = await fought(5);
    await scale(harness, 99);
    assert.equal(replicas(harness), 99);
    assert.equal(harness.ready('a'), contested);
    assert.deepEqual(harness.passes.at(-1)?.end, {
      kind: 'requeue',
      afterMs: 10_000,
      reason: 'Contested',
    });
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a']);
    // However often it is set meanwhile, nothing is written.
    for (const count of [98, 97, 96]) await scale(harness, count);
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('it is reverted ever more rarely while the conflict continues, with the same words', async () => {
    const { harness } = await fought(5);
    await scale(harness, 99);
    harness.cluster.takeWrites();
    for (const [truceMs, nextMs] of [
      [10_000, 20_000],
      [20_000, 40_000],
      [40_000, 80_000],
      [80_000, 160_000],
      [160_000, 300_000],
      [300_000, 300_000],
    ] as const) {
      await harness.clock.advance(truceMs);
      await harness.runOne(key);
      assert.equal(replicas(harness), 3);
      assert.deepEqual(harness.passes.at(-1)?.end, {
        kind: 'requeue',
        afterMs: nextMs,
        reason: 'Contested',
      });
      assert.equal(harness.ready('a'), contested);
      await scale(harness, 50);
      assert.equal(replicas(harness), 50);
      assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
    }
  });

  test('it is over when no one takes the field for a whole while', async () => {
    const { harness } = await fought(5);
    await scale(harness, 99);
    await harness.clock.advance(10_000);
    await harness.runOne(key);
    assert.equal(harness.ready('a'), contested);
    await harness.clock.advance(20_000);
    await harness.runOne(key);
    assert.match(harness.ready('a'), /Progressing/);
    await harness.settle();
    harness.cluster.takeWrites();
    // And starts again.
    await scale(harness, 99);
    assert.equal(replicas(harness), 3);
    assert.match(harness.ready('a'), /Progressing/);
  });

  test('it is over at once when the other gives the field back and keeps to it', async () => {
    const { harness } = await fought(5);
    await scale(harness, 99);
    await scale(harness, 3);
    await harness.clock.advance(10_000);
    await harness.runOne(key);
    assert.match(harness.ready('a'), /Progressing/);
  });

  test('a new intent of the user is applied at once', async () => {
    const { harness, podSet } = await fought(5);
    await scale(harness, 99);
    harness.edit(podSet, { spec: { size: 4 } });
    await harness.settle();
    assert.equal(replicas(harness), 4);
    assert.match(harness.ready('a'), /Progressing/);
  });

  test('what the user changes beside the field is not held up', async () => {
    const harness = new OperatorHarness(
      podSetPlan({
        status: {},
        children: [
          {
            id: 'config',
            apiVersion: 'v1',
            kind: 'ConfigMap',
            template: ({ resource }) => ({
              metadata: { name: 'a' },
              data: { ours: 'x', other: String(resource.spec.other) },
            }),
          },
        ],
      }),
    );
    await harness.start();
    const podSet = harness.podSet('a', { other: 1 });
    await harness.settle();
    const data = () => harness.get('v1', 'ConfigMap', 'a')?.data as Record<string, string>;
    const take = async () => {
      const config = harness.get('v1', 'ConfigMap', 'a');
      assert.ok(config);
      harness.cluster.server.put({ ...config, data: { ...data(), ours: 'theirs' } }, 'taker');
      await harness.settle();
    };
    for (let round = 0; round < 6; round++) await take();
    assert.equal(data().ours, 'theirs');
    harness.edit(podSet, { spec: { other: 2 } });
    await harness.settle();
    assert.deepEqual(data(), { ours: 'x', other: '2' });
    assert.match(harness.ready('a'), /Contested/);
    await take();
    assert.deepEqual(data(), { ours: 'theirs', other: '2' });
  });

  test('edits that are far apart, or of other fields, are no conflict', async () => {
    const { harness } = await fought(3);
    for (let round = 0; round < 10; round++) {
      await harness.clock.advance(121_000);
      await scale(harness, 20 + round);
      assert.equal(replicas(harness), 3);
    }
    const deployment = harness.get('apps/v1', 'Deployment', 'a');
    assert.ok(deployment);
    for (const label of [
      'homeostat.dev/child',
      'homeostat.dev/definition',
      'homeostat.dev/child',
    ]) {
      const labels = { ...deployment.metadata.labels, [label]: 'x' };
      harness.edit(deployment, { metadata: { ...deployment.metadata, labels } });
      await harness.settle();
    }
    assert.match(harness.ready('a'), /Progressing/);
  });

  test('without managed fields, the conflict names another manager', async () => {
    const { KubeError } = await import('#kube/roles.ts');
    const { harness } = await fought(5);
    harness.cluster.fault = ({ verb }) =>
      verb === 'get' ? new KubeError('forbidden', 'no', { status: 403 }) : undefined;
    await scale(harness, 99);
    assert.match(
      harness.ready('a'),
      /"homeostat\/podset" and another manager overwrite each other in spec\.replicas/,
    );
  });

  test('our mark that is taken off again and again is a conflict too', async () => {
    const { harness } = await fought(0);
    for (let round = 0; round < 6; round++) {
      await harness.clock.advance(1_000);
      const deployment = harness.get('apps/v1', 'Deployment', 'a');
      assert.ok(deployment);
      const { annotations: _, ...metadata } = deployment.metadata;
      harness.cluster.server.put({ ...deployment, metadata }, 'cleaner');
      await harness.settle();
    }
    assert.match(harness.ready('a'), /Contested: .* in metadata\.annotations/);
  });

  test('the other children are not held up by it', async () => {
    const { harness, podSet } = await fought(5);
    await scale(harness, 99);
    harness.remove(podSet);
    await harness.settle();
    harness.podSet('b', { size: 1 });
    await harness.settle();
    assert.ok(harness.get('apps/v1', 'Deployment', 'b'));
  });

  test('of a Secret neither keys nor values are reported', async () => {
    const child = secretChild({ data: { passphrase: 'aHVudGVyMg==' } });
    const harness = new OperatorHarness(podSetPlan({ status: {}, children: [child] }));
    await harness.start();
    harness.podSet('a');
    await harness.settle();
    for (let round = 0; round < 6; round++) {
      const secret = harness.get('v1', 'Secret', 'a');
      assert.ok(secret);
      harness.cluster.server.put({ ...secret, data: { passphrase: 'b3RoZXI=' } }, 'vault');
      await harness.settle();
    }
    assert.match(
      harness.ready('a'),
      /Contested: .*"homeostat\/podset" and "vault" overwrite each other in data:/,
    );
    const reported = JSON.stringify([
      harness.status('a'),
      harness.cluster.reported,
      [...harness.decisions],
    ]);
    assert.doesNotMatch(reported, /passphrase|aHVudGVyMg|b3RoZXI/);
  });
});
