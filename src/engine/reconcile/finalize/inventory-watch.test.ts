import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import {
  type DeletionHarness,
  deletePodSet,
  deletionHarness,
  farChild,
  podSetOf,
  writeInventory,
} from '../../../../test/support/fakes/deletion-harness.ts';
import { planOf } from '../../../../test/support/fakes/handmade-plan.ts';
import type { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

const lingerMs = 60_000;
const far = 'ConfigMap other/far';

/** The definition is broken; on record of it are Pods and Services besides. */
async function brokenHarness(): Promise<DeletionHarness> {
  const { harness, plan } = await deletionHarness({ children: [farChild('far')] });
  const former = [gvkOf('v1', 'Pod'), gvkOf('v1', 'Service')];
  await harness.breakDefinition(plan, { former });
  return { harness, plan };
}

function watchedKinds(harness: OperatorHarness): readonly string[] {
  return harness.cluster.watched.map(({ gvk }) => gvk.kind).sort();
}

describe('reconcile/finalize: kinds that only an inventory names', () => {
  test('are watched until some time after the last resource that names them is gone', async () => {
    const { harness } = await brokenHarness();
    await writeInventory(harness, [far, 'Pod default/x', 'Service default/x']);
    await deletePodSet(harness);
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(watchedKinds(harness), ['ConfigMap', 'Pod', 'PodSet', 'Service']);
    await harness.clock.advance(lingerMs);
    assert.deepEqual(watchedKinds(harness), ['PodSet']);
  });

  test('are kept while another resource needs them', async () => {
    const { harness } = await brokenHarness();
    await writeInventory(harness, [far, 'Pod default/x']);
    const object = harness.cluster.server.get(gvkOf('v1', 'ConfigMap'), 'other', 'far')?.object;
    assert.ok(object);
    const metadata = { ...object.metadata, finalizers: ['example.com/hold'] };
    harness.cluster.server.put({ ...object, metadata });
    await deletePodSet(harness);
    await harness.clock.advance(10 * lingerMs);
    assert.ok(podSetOf(harness));
    assert.deepEqual(watchedKinds(harness), ['ConfigMap', 'Pod', 'PodSet']);
  });

  test('are not watched for a resource that is gone because its finalizer was removed by hand', async () => {
    const { harness } = await brokenHarness();
    await writeInventory(harness, [far, 'Pod default/x']);
    const held = harness.cluster.server.get(gvkOf('v1', 'ConfigMap'), 'other', 'far')?.object;
    assert.ok(held);
    const metadata = { ...held.metadata, finalizers: ['example.com/hold'] };
    harness.cluster.server.put({ ...held, metadata });
    await deletePodSet(harness);
    const object = podSetOf(harness);
    assert.ok(object);
    harness.edit(object, { metadata: { ...object.metadata, finalizers: [] } });
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
    await harness.clock.advance(lingerMs);
    assert.deepEqual(watchedKinds(harness), ['PodSet']);
  });

  test('that may not be listed are a problem of their resource, not of the definition', async () => {
    const { harness } = await brokenHarness();
    harness.cluster.block('Pod', new KubeError('forbidden', 'no list', { status: 403 }));
    await writeInventory(harness, [far, 'Pod default/x']);
    await deletePodSet(harness);
    assert.match(harness.ready('a'), /^False Forbidden: no list/);
    assert.deepEqual(harness.operator.problems(), []);
  });

  test('are not watched when the definition never had children of them', async () => {
    const { harness } = await brokenHarness();
    await writeInventory(harness, [far, 'Secret default/x']);
    await deletePodSet(harness);
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(watchedKinds(harness), ['ConfigMap', 'PodSet']);
    const ignored = harness.log.find(({ msg }) => msg.startsWith('Ignoring inventory entries'));
    assert.equal(ignored?.ignored, 1);
  });

  for (const annotation of ['Pod,Secret,Service', '["Pod default/x"]']) {
    test(`are not those that its author writes into an annotation: ${annotation}`, async () => {
      const { harness } = await deletionHarness({ children: [farChild('far')] });
      const object = podSetOf(harness);
      assert.ok(object);
      const annotations = { 'inventory.homeostat.dev/podset': annotation };
      harness.edit(object, { metadata: { ...object.metadata, annotations } });
      await harness.settle();
      await deletePodSet(harness);
      assert.equal(podSetOf(harness), undefined);
      assert.deepEqual(watchedKinds(harness), ['ConfigMap', 'PodSet']);
    });
  }
});

describe('reconcile/finalize: an inventory from before', () => {
  test('in an annotation is removed once there is one in the status, and all its objects are still found', async () => {
    const { harness } = await deletionHarness({ children: [farChild('far')] });
    const object = podSetOf(harness);
    assert.ok(object);
    const { childInventory: _, ...status } = harness.status('a');
    const annotations = { 'inventory.homeostat.dev/podset': 'ConfigMap' };
    harness.edit(object, { status, metadata: { ...object.metadata, annotations } });
    await harness.restart(planOf({ children: [farChild('other')] }));
    await harness.settle();
    assert.equal(
      podSetOf(harness)?.metadata.annotations?.['inventory.homeostat.dev/podset'],
      undefined,
    );
    assert.deepEqual(harness.status('a').childInventory, ['ConfigMap other/other']);
    const maps = harness.cluster.server.list(gvkOf('v1', 'ConfigMap'));
    assert.deepEqual(
      maps.map((stored) => stored.object.metadata.name),
      ['other'],
    );
    harness.cluster.takeWrites();
    await harness.runOne('default/a');
    assert.deepEqual(harness.cluster.requests, []);
  });
});
