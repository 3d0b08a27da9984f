import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import {
  deploymentChild,
  podSetPlan,
  secretChild,
} from '../../../../test/support/fakes/podset-plan.ts';

const key = 'default/a';
const left = 'False Conflict: deployment "a": spec.replicas is left to field manager "scaler"';
const plan = () => podSetPlan({ children: [{ ...deploymentChild, conflicts: 'Report' }] });

function deployment(harness: OperatorHarness): KubeObject {
  const found = harness.get('apps/v1', 'Deployment', 'a');
  assert.ok(found);
  return found;
}

function replicas(harness: OperatorHarness): unknown {
  return (deployment(harness).spec as { replicas: number }).replicas;
}

async function write(harness: OperatorHarness, change: object, manager = 'scaler'): Promise<void> {
  harness.cluster.server.put({ ...deployment(harness), ...change }, manager);
  await harness.settle();
}

function scale(harness: OperatorHarness, count: number): Promise<void> {
  return write(harness, { spec: { ...(deployment(harness).spec as object), replicas: count } });
}

async function setUp() {
  const harness = new OperatorHarness(plan());
  await harness.start();
  const podSet = harness.podSet('a', { size: 3 });
  await harness.settle();
  assert.equal(replicas(harness), 3);
  harness.cluster.takeWrites();
  return { harness, podSet };
}

describe('reconcile/attempt ignored fields', () => {
  test('a field that another manager took is left to it, and reported', async () => {
    const { harness } = await setUp();
    await scale(harness, 7);
    assert.equal(replicas(harness), 7);
    assert.equal(harness.ready('a'), left);
    // The rejected apply, one without the field, the report.
    assert.deepEqual(harness.cluster.takeWrites(), [
      'apply Deployment/a',
      'apply Deployment/a',
      'status PodSet/a',
    ]);
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('the rest of the object stays as wanted', async () => {
    const { harness, podSet } = await setUp();
    await scale(harness, 7);
    await write(harness, {
      metadata: { ...deployment(harness).metadata, labels: {} },
    });
    assert.equal(deployment(harness).metadata.labels?.['homeostat.dev/child'], 'deployment');
    assert.equal(replicas(harness), 7);
    harness.edit(podSet, { spec: { size: 4 } });
    await harness.settle();
    assert.equal(replicas(harness), 7);
    assert.equal(harness.ready('a'), left);
  });

  test('it is ours again when the other wants the same', async () => {
    const { harness } = await setUp();
    await scale(harness, 7);
    await scale(harness, 3);
    assert.match(harness.ready('a'), /Progressing/);
  });

  test('it is asked for again after retry.permanent, and is ours when the other has given it up', async () => {
    const { harness } = await setUp();
    await scale(harness, 7);
    assert.deepEqual(harness.passes.at(-1)?.end, {
      kind: 'requeue',
      afterMs: 600_000,
      reason: 'Conflict',
    });
    harness.cluster.takeWrites();
    await harness.clock.advance(600_000);
    await harness.runOne(key);
    assert.equal(replicas(harness), 7);
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
    harness.cluster.server.disown('scaler');
    await harness.clock.advance(600_000);
    await harness.runOne(key);
    assert.equal(replicas(harness), 3);
    assert.match(harness.ready('a'), /Progressing/);
  });

  test('a restart costs one rejected apply and writes nothing', async () => {
    const { harness } = await setUp();
    await scale(harness, 7);
    harness.cluster.takeWrites();
    const { resourceVersion } = deployment(harness).metadata;
    await harness.restart(plan());
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
    assert.equal(deployment(harness).metadata.resourceVersion, resourceVersion);
    assert.equal(harness.ready('a'), left);
  });

  test('another manager may not have what says that the object is ours', async () => {
    const { harness } = await setUp();
    const { metadata, spec } = deployment(harness);
    const labels = { ...metadata.labels, 'homeostat.dev/child': 'other' };
    await write(harness, {
      metadata: { ...metadata, labels },
      spec: { ...(spec as object), replicas: 7 },
    });
    assert.equal(deployment(harness).metadata.labels?.['homeostat.dev/child'], 'deployment');
    assert.equal(replicas(harness), 7);
    assert.equal(harness.ready('a'), left);
  });

  test('the child is as ready as it is, and keeps no other from being deleted', async () => {
    const { harness } = await setUp();
    await scale(harness, 7);
    const [child] = harness.status('a').children as { state: string; message: string }[];
    assert.deepEqual(
      [child?.state, child?.message],
      ['Progressing', 'spec.replicas is left to field manager "scaler"'],
    );
  });

  test('of a Secret the keys are not reported', async () => {
    const child = secretChild({ data: { passphrase: 'aHVudGVyMg==' } }, { conflicts: 'Report' });
    const harness = new OperatorHarness(podSetPlan({ status: {}, children: [child] }));
    await harness.start();
    harness.podSet('a');
    await harness.settle();
    const secret = harness.get('v1', 'Secret', 'a');
    assert.ok(secret);
    harness.cluster.server.put({ ...secret, data: { passphrase: 'b3RoZXI=' } }, 'vault');
    await harness.settle();
    assert.equal(
      harness.ready('a'),
      'False Conflict: secret "a": data is left to field manager "vault"',
    );
  });
});
