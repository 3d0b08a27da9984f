import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { podSetPlan, secretChild } from '../../../test/support/fakes/podset-plan.ts';

const key = 'default/a';
const contested =
  'False Contested: deployment "a": "homeostat/podset" and "scaler" overwrite each other in spec.replicas: Homeostat reverts the change with growing delays until one of them stops';

function replicas(world: OperatorWorld): unknown {
  const spec = world.get('apps/v1', 'Deployment', 'a')?.spec as { replicas?: number } | undefined;
  return spec?.replicas;
}

/** Another manager sets the number of replicas. */
async function scale(world: OperatorWorld, count: number): Promise<void> {
  const deployment = world.get('apps/v1', 'Deployment', 'a');
  assert.ok(deployment);
  const spec = { ...(deployment.spec as object), replicas: count };
  world.cluster.server.put({ ...deployment, spec }, 'scaler');
  await world.settle();
}

/** A PodSet of three, whose Deployment has been put back `times` times, a second apart. */
async function fought(times: number) {
  const world = new OperatorWorld(podSetPlan());
  await world.start();
  const podSet = world.podSet('a', { size: 3 });
  await world.settle();
  for (let round = 0; round < times; round++) {
    await world.clock.advance(1_000);
    await scale(world, 10 + round);
    assert.equal(replicas(world), 3);
  }
  world.cluster.takeWrites();
  return { world, podSet };
}

describe('reconcile/attempt ownership conflicts', () => {
  test('a field that another manager sets again and again is left to it for a while, and both are reported', async () => {
    const { world } = await fought(5);
    await scale(world, 99);
    assert.equal(replicas(world), 99);
    assert.equal(world.ready('a'), contested);
    assert.deepEqual(world.passes.at(-1)?.end, {
      kind: 'requeue',
      afterMs: 10_000,
      reason: 'Contested',
    });
    assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a']);
    // However often it is set meanwhile, nothing is written.
    for (const count of [98, 97, 96]) await scale(world, count);
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('it is reverted ever more rarely while the conflict continues, with the same words', async () => {
    const { world } = await fought(5);
    await scale(world, 99);
    world.cluster.takeWrites();
    for (const [truceMs, nextMs] of [
      [10_000, 20_000],
      [20_000, 40_000],
      [40_000, 80_000],
      [80_000, 160_000],
      [160_000, 300_000],
      [300_000, 300_000],
    ] as const) {
      await world.clock.advance(truceMs);
      await world.runOne(key);
      assert.equal(replicas(world), 3);
      assert.deepEqual(world.passes.at(-1)?.end, {
        kind: 'requeue',
        afterMs: nextMs,
        reason: 'Contested',
      });
      assert.equal(world.ready('a'), contested);
      await scale(world, 50);
      assert.equal(replicas(world), 50);
      assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a']);
    }
  });

  test('it is over when nobody takes the field for a whole while', async () => {
    const { world } = await fought(5);
    await scale(world, 99);
    await world.clock.advance(10_000);
    await world.runOne(key);
    assert.equal(world.ready('a'), contested);
    await world.clock.advance(20_000);
    await world.runOne(key);
    assert.match(world.ready('a'), /Progressing/);
    await world.settle();
    world.cluster.takeWrites();
    // And begins anew.
    await scale(world, 99);
    assert.equal(replicas(world), 3);
    assert.match(world.ready('a'), /Progressing/);
  });

  test('it is over at once when the other gives the field back and keeps to it', async () => {
    const { world } = await fought(5);
    await scale(world, 99);
    await scale(world, 3);
    await world.clock.advance(10_000);
    await world.runOne(key);
    assert.match(world.ready('a'), /Progressing/);
  });

  test('a new intent of the user is applied at once', async () => {
    const { world, podSet } = await fought(5);
    await scale(world, 99);
    world.edit(podSet, { spec: { size: 4 } });
    await world.settle();
    assert.equal(replicas(world), 4);
    assert.match(world.ready('a'), /Progressing/);
  });

  test('what the user changes beside the field is not held up', async () => {
    const world = new OperatorWorld(
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
    await world.start();
    const podSet = world.podSet('a', { other: 1 });
    await world.settle();
    const data = () => world.get('v1', 'ConfigMap', 'a')?.data as Record<string, string>;
    const take = async () => {
      const config = world.get('v1', 'ConfigMap', 'a');
      assert.ok(config);
      world.cluster.server.put({ ...config, data: { ...data(), ours: 'theirs' } }, 'taker');
      await world.settle();
    };
    for (let round = 0; round < 6; round++) await take();
    assert.equal(data().ours, 'theirs');
    world.edit(podSet, { spec: { other: 2 } });
    await world.settle();
    assert.deepEqual(data(), { ours: 'x', other: '2' });
    assert.match(world.ready('a'), /Contested/);
    await take();
    assert.deepEqual(data(), { ours: 'theirs', other: '2' });
  });

  test('edits that are far apart, or of other fields, are no conflict', async () => {
    const { world } = await fought(3);
    for (let round = 0; round < 10; round++) {
      await world.clock.advance(121_000);
      await scale(world, 20 + round);
      assert.equal(replicas(world), 3);
    }
    const deployment = world.get('apps/v1', 'Deployment', 'a');
    assert.ok(deployment);
    for (const label of [
      'homeostat.dev/child',
      'homeostat.dev/definition',
      'homeostat.dev/child',
    ]) {
      const labels = { ...deployment.metadata.labels, [label]: 'x' };
      world.edit(deployment, { metadata: { ...deployment.metadata, labels } });
      await world.settle();
    }
    assert.match(world.ready('a'), /Progressing/);
  });

  test('without managed fields, the conflict names another manager', async () => {
    const { KubeError } = await import('../../kube/roles.ts');
    const { world } = await fought(5);
    world.cluster.fault = ({ verb }) =>
      verb === 'get' ? new KubeError('forbidden', 'no', { status: 403 }) : undefined;
    await scale(world, 99);
    assert.match(
      world.ready('a'),
      /"homeostat\/podset" and another manager overwrite each other in spec\.replicas/,
    );
  });

  test('our mark that is taken off again and again is a conflict too', async () => {
    const { world } = await fought(0);
    for (let round = 0; round < 6; round++) {
      await world.clock.advance(1_000);
      const deployment = world.get('apps/v1', 'Deployment', 'a');
      assert.ok(deployment);
      const { annotations: _, ...metadata } = deployment.metadata;
      world.cluster.server.put({ ...deployment, metadata }, 'cleaner');
      await world.settle();
    }
    assert.match(world.ready('a'), /Contested: .* in metadata\.annotations/);
  });

  test('the other children are not held up by it', async () => {
    const { world, podSet } = await fought(5);
    await scale(world, 99);
    world.remove(podSet);
    await world.settle();
    world.podSet('b', { size: 1 });
    await world.settle();
    assert.ok(world.get('apps/v1', 'Deployment', 'b'));
  });

  test('of a Secret neither keys nor values are reported', async () => {
    const child = secretChild({ data: { passphrase: 'aHVudGVyMg==' } });
    const world = new OperatorWorld(podSetPlan({ status: {}, children: [child] }));
    await world.start();
    world.podSet('a');
    await world.settle();
    for (let round = 0; round < 6; round++) {
      const secret = world.get('v1', 'Secret', 'a');
      assert.ok(secret);
      world.cluster.server.put({ ...secret, data: { passphrase: 'b3RoZXI=' } }, 'vault');
      await world.settle();
    }
    assert.match(
      world.ready('a'),
      /Contested: .*"homeostat\/podset" and "vault" overwrite each other in data:/,
    );
    const told = JSON.stringify([world.status('a'), world.cluster.told, [...world.decisions]]);
    assert.doesNotMatch(told, /passphrase|aHVudGVyMg|b3RoZXI/);
  });
});
