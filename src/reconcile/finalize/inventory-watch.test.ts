import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type DeletionWorld,
  deletePodSet,
  deletionWorld,
  farChild,
  podSetOf,
  writeInventory,
} from '../../../test/support/fakes/deletion-world.ts';
import { planOf } from '../../../test/support/fakes/handmade-plan.ts';
import type { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { KubeError } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';

const lingerMs = 60_000;
const far = 'ConfigMap other/far';

/** The definition is broken; on record of it are Pods and Services besides. */
async function brokenWorld(): Promise<DeletionWorld> {
  const { world, plan } = await deletionWorld({ children: [farChild('far')] });
  const former = [gvkOf('v1', 'Pod'), gvkOf('v1', 'Service')];
  await world.breakDefinition(plan, { former });
  return { world, plan };
}

function watchedKinds(world: OperatorWorld): readonly string[] {
  return world.cluster.watched.map(({ gvk }) => gvk.kind).sort();
}

describe('reconcile/finalize: kinds that only an inventory names', () => {
  test('are watched until some time after the last resource that names them is gone', async () => {
    const { world } = await brokenWorld();
    await writeInventory(world, [far, 'Pod default/x', 'Service default/x']);
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(watchedKinds(world), ['ConfigMap', 'Pod', 'PodSet', 'Service']);
    await world.clock.advance(lingerMs);
    assert.deepEqual(watchedKinds(world), ['PodSet']);
  });

  test('are kept while another resource needs them', async () => {
    const { world } = await brokenWorld();
    await writeInventory(world, [far, 'Pod default/x']);
    const object = world.cluster.server.get(gvkOf('v1', 'ConfigMap'), 'other', 'far')?.object;
    assert.ok(object);
    const metadata = { ...object.metadata, finalizers: ['example.com/hold'] };
    world.cluster.server.put({ ...object, metadata });
    await deletePodSet(world);
    await world.clock.advance(10 * lingerMs);
    assert.ok(podSetOf(world));
    assert.deepEqual(watchedKinds(world), ['ConfigMap', 'Pod', 'PodSet']);
  });

  test('that may not be listed are a problem of their resource, not of the definition', async () => {
    const { world } = await brokenWorld();
    world.cluster.block('Pod', new KubeError('forbidden', 'no list', { status: 403 }));
    await writeInventory(world, [far, 'Pod default/x']);
    await deletePodSet(world);
    assert.match(world.ready('a'), /^False Forbidden: no list/);
    assert.deepEqual(world.operator.problems(), []);
  });

  test('are not watched when the definition never had children of them', async () => {
    const { world } = await brokenWorld();
    await writeInventory(world, [far, 'Secret default/x']);
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(watchedKinds(world), ['ConfigMap', 'PodSet']);
    const ignored = world.log.find(({ msg }) => msg.startsWith('Ignoring inventory entries'));
    assert.equal(ignored?.ignored, 1);
  });

  for (const annotation of ['Pod,Secret,Service', '["Pod default/x"]']) {
    test(`are not those that its author writes into an annotation: ${annotation}`, async () => {
      const { world } = await deletionWorld({ children: [farChild('far')] });
      const object = podSetOf(world);
      assert.ok(object);
      const annotations = { 'inventory.homeostat.dev/podset': annotation };
      world.edit(object, { metadata: { ...object.metadata, annotations } });
      await world.settle();
      await deletePodSet(world);
      assert.equal(podSetOf(world), undefined);
      assert.deepEqual(watchedKinds(world), ['ConfigMap', 'PodSet']);
    });
  }
});

describe('reconcile/finalize: an inventory from before', () => {
  test('in an annotation goes once there is one in the status, and all it led to is still found', async () => {
    const { world } = await deletionWorld({ children: [farChild('far')] });
    const object = podSetOf(world);
    assert.ok(object);
    const { childInventory: _, ...status } = world.status('a');
    const annotations = { 'inventory.homeostat.dev/podset': 'ConfigMap' };
    world.edit(object, { status, metadata: { ...object.metadata, annotations } });
    await world.restart(planOf({ children: [farChild('other')] }));
    await world.settle();
    assert.equal(
      podSetOf(world)?.metadata.annotations?.['inventory.homeostat.dev/podset'],
      undefined,
    );
    assert.deepEqual(world.status('a').childInventory, ['ConfigMap other/other']);
    const maps = world.cluster.server.list(gvkOf('v1', 'ConfigMap'));
    assert.deepEqual(
      maps.map((stored) => stored.object.metadata.name),
      ['other'],
    );
    world.cluster.takeWrites();
    await world.runOne('default/a');
    assert.deepEqual(world.cluster.requests, []);
  });
});
