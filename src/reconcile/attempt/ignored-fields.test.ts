import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import {
  deploymentChild,
  podSetPlan,
  secretChild,
} from '../../../test/support/fakes/podset-plan.ts';
import type { KubeObject } from '../../util/kube-object.ts';

const key = 'default/a';
const left = 'False Conflict: deployment "a": spec.replicas is left to field manager "scaler"';
const plan = () => podSetPlan({ children: [{ ...deploymentChild, conflicts: 'Report' }] });

function deployment(world: OperatorWorld): KubeObject {
  const found = world.get('apps/v1', 'Deployment', 'a');
  assert.ok(found);
  return found;
}

function replicas(world: OperatorWorld): unknown {
  return (deployment(world).spec as { replicas: number }).replicas;
}

async function write(world: OperatorWorld, change: object, manager = 'scaler'): Promise<void> {
  world.cluster.server.put({ ...deployment(world), ...change }, manager);
  await world.settle();
}

function scale(world: OperatorWorld, count: number): Promise<void> {
  return write(world, { spec: { ...(deployment(world).spec as object), replicas: count } });
}

async function setUp() {
  const world = new OperatorWorld(plan());
  await world.start();
  const podSet = world.podSet('a', { size: 3 });
  await world.settle();
  assert.equal(replicas(world), 3);
  world.cluster.takeWrites();
  return { world, podSet };
}

describe('reconcile/attempt ignored fields', () => {
  test('a field that another manager took is left to it, and reported', async () => {
    const { world } = await setUp();
    await scale(world, 7);
    assert.equal(replicas(world), 7);
    assert.equal(world.ready('a'), left);
    // The refused apply, one without the field, the report.
    assert.deepEqual(world.cluster.takeWrites(), [
      'apply Deployment/a',
      'apply Deployment/a',
      'status PodSet/a',
    ]);
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('the rest of the object stays as wanted', async () => {
    const { world, podSet } = await setUp();
    await scale(world, 7);
    await write(world, {
      metadata: { ...deployment(world).metadata, labels: {} },
    });
    assert.equal(deployment(world).metadata.labels?.['homeostat.dev/child'], 'deployment');
    assert.equal(replicas(world), 7);
    world.edit(podSet, { spec: { size: 4 } });
    await world.settle();
    assert.equal(replicas(world), 7);
    assert.equal(world.ready('a'), left);
  });

  test('it is ours again when the other wants the same', async () => {
    const { world } = await setUp();
    await scale(world, 7);
    await scale(world, 3);
    assert.match(world.ready('a'), /Progressing/);
  });

  test('it is asked for again after retry.permanent, and is ours when the other has given it up', async () => {
    const { world } = await setUp();
    await scale(world, 7);
    assert.deepEqual(world.passes.at(-1)?.end, {
      kind: 'requeue',
      afterMs: 600_000,
      reason: 'Conflict',
    });
    world.cluster.takeWrites();
    await world.clock.advance(600_000);
    await world.runOne(key);
    assert.equal(replicas(world), 7);
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a']);
    world.cluster.server.disown('scaler');
    await world.clock.advance(600_000);
    await world.runOne(key);
    assert.equal(replicas(world), 3);
    assert.match(world.ready('a'), /Progressing/);
  });

  test('a restart costs one rejected apply and writes nothing', async () => {
    const { world } = await setUp();
    await scale(world, 7);
    world.cluster.takeWrites();
    const { resourceVersion } = deployment(world).metadata;
    await world.restart(plan());
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply Deployment/a']);
    assert.equal(deployment(world).metadata.resourceVersion, resourceVersion);
    assert.equal(world.ready('a'), left);
  });

  test('another manager may not have what says that the object is ours', async () => {
    const { world } = await setUp();
    const { metadata, spec } = deployment(world);
    const labels = { ...metadata.labels, 'homeostat.dev/child': 'other' };
    await write(world, {
      metadata: { ...metadata, labels },
      spec: { ...(spec as object), replicas: 7 },
    });
    assert.equal(deployment(world).metadata.labels?.['homeostat.dev/child'], 'deployment');
    assert.equal(replicas(world), 7);
    assert.equal(world.ready('a'), left);
  });

  test('the child is as ready as it is, and keeps no other from being deleted', async () => {
    const { world } = await setUp();
    await scale(world, 7);
    const [child] = world.status('a').children as { state: string; message: string }[];
    assert.deepEqual(
      [child?.state, child?.message],
      ['Progressing', 'spec.replicas is left to field manager "scaler"'],
    );
  });

  test('of a Secret the keys are not reported', async () => {
    const child = secretChild({ data: { passphrase: 'aHVudGVyMg==' } }, { conflicts: 'Report' });
    const world = new OperatorWorld(podSetPlan({ status: {}, children: [child] }));
    await world.start();
    world.podSet('a');
    await world.settle();
    const secret = world.get('v1', 'Secret', 'a');
    assert.ok(secret);
    world.cluster.server.put({ ...secret, data: { passphrase: 'b3RoZXI=' } }, 'vault');
    await world.settle();
    assert.equal(
      world.ready('a'),
      'False Conflict: secret "a": data is left to field manager "vault"',
    );
  });
});
