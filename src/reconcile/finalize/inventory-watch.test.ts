import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  deletePodSet,
  deletionWorld,
  farChild,
  mapChild,
  podSetOf,
} from '../../../test/support/fakes/deletion-world.ts';
import { planOf } from '../../../test/support/fakes/handmade-plan.ts';
import type { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { KubeError } from '../../kube/roles.ts';

const lingerMs = 60_000;

/** Somebody edits what the resource says of its children. */
async function writeInventory(world: OperatorWorld, kinds: string): Promise<void> {
  const object = podSetOf(world);
  assert.ok(object);
  const annotations = {
    ...object.metadata.annotations,
    'inventory.homeostat.dev/podset': kinds,
  };
  world.edit(object, { metadata: { ...object.metadata, annotations } });
  await world.settle();
}

function watchedKinds(world: OperatorWorld): readonly string[] {
  return world.cluster.watched.map(({ gvk }) => gvk.kind).sort();
}

describe('reconcile/finalize: kinds that only an inventory names', () => {
  test('are watched until some time after the last resource that names them is gone', async () => {
    const { world } = await deletionWorld({ children: [farChild('far')] });
    await writeInventory(world, 'ConfigMap,Pod,Service');
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(watchedKinds(world), ['ConfigMap', 'Pod', 'PodSet', 'Service']);
    await world.clock.advance(lingerMs);
    assert.deepEqual(watchedKinds(world), ['ConfigMap', 'PodSet']);
  });

  test('are kept while another resource needs them', async () => {
    const { world } = await deletionWorld({ children: [farChild('far')] });
    await writeInventory(world, 'ConfigMap,Pod');
    await deletePodSet(world);
    await world.clock.advance(lingerMs / 2);
    world.podSet('a');
    await world.settle();
    await writeInventory(world, 'ConfigMap,Pod');
    const far = world.cluster.server.get(
      { group: '', version: 'v1', kind: 'ConfigMap' },
      'other',
      'far',
    );
    assert.ok(far);
    const metadata = { ...far.object.metadata, finalizers: ['example.com/hold'] };
    world.cluster.server.put({ ...far.object, metadata });
    await world.settle();
    await deletePodSet(world);
    await world.clock.advance(10 * lingerMs);
    assert.ok(podSetOf(world));
    assert.ok(watchedKinds(world).includes('Pod'));
  });

  test('end, too, when a changed definition lets the living resource go', async () => {
    const { world } = await deletionWorld({ children: [farChild('far')] });
    await writeInventory(world, 'ConfigMap,Pod');
    await world.restart(planOf({ children: [mapChild('near')] }));
    await world.settle();
    assert.equal(podSetOf(world)?.metadata.finalizers?.length ?? 0, 0);
    await world.clock.advance(lingerMs);
    assert.deepEqual(watchedKinds(world), ['ConfigMap', 'PodSet']);
  });

  test('that may not be listed are a problem of their resource, not of the definition', async () => {
    const { world } = await deletionWorld({ children: [farChild('far')] });
    world.cluster.block('Pod', new KubeError('forbidden', 'no list', { status: 403 }));
    await writeInventory(world, 'ConfigMap,Pod');
    await deletePodSet(world);
    assert.match(world.ready('a'), /^False Forbidden: no list/);
    assert.deepEqual(world.operator.problems(), []);
    const other = world.podSet('b');
    await world.settle();
    world.remove(other);
    await world.settle();
    assert.equal(world.get('apps.example.com/v1', 'PodSet', 'b'), undefined);
    await writeInventory(world, 'ConfigMap');
    await world.runOne('default/a');
    await world.settle();
    assert.equal(podSetOf(world), undefined);
    await world.clock.advance(lingerMs);
    assert.deepEqual(watchedKinds(world), ['ConfigMap', 'PodSet']);
  });
});
