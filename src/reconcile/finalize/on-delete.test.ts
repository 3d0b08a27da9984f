import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  deletePodSet,
  deletionWorld,
  mapChild,
  placesOf,
  podSetOf,
} from '../../../test/support/fakes/deletion-world.ts';

describe('reconcile/finalize: what "onDelete" makes and is ready at once', () => {
  for (const [what, children] of [
    ['of a resource without children', [mapChild('base', { when: () => false })]],
    ['of a resource whose children go at once', [mapChild('base')]],
  ] as const) {
    test(`${what} does not stay behind`, async () => {
      const { world } = await deletionWorld({
        children,
        onDelete: { children: [mapChild('note')] },
      });
      await deletePodSet(world);
      assert.ok(world.cluster.takeWrites().includes('apply ConfigMap/note'));
      assert.equal(podSetOf(world), undefined);
      assert.deepEqual(placesOf(world, 'ConfigMap'), []);
    });
  }

  test('is not in the way of the next resource of that name', async () => {
    const onDelete = { children: [mapChild('note')] };
    const { world } = await deletionWorld({ children: [mapChild('base')], onDelete });
    await deletePodSet(world);
    world.podSet('a');
    await world.settle();
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
  });

  test('of a former resource is neither taken for done nor deleted: it is in the way, and the resource says so', async () => {
    const onDelete = { children: [mapChild('note', { ready: () => false })] };
    const { world } = await deletionWorld({ children: [mapChild('base')], onDelete });
    await deletePodSet(world);
    const former = podSetOf(world);
    assert.ok(former);
    // Somebody loses patience.
    world.edit(former, { metadata: { ...former.metadata, finalizers: [] } });
    await world.settle();
    world.podSet('a');
    await world.settle();
    await deletePodSet(world);
    assert.match(world.ready('a'), /^False Conflict: note/);
    const note = world.get('v1', 'ConfigMap', 'note');
    assert.ok(note);
    assert.notEqual(
      note.metadata.labels?.['homeostat.dev/owner-uid'],
      podSetOf(world)?.metadata.uid,
    );
  });
});
