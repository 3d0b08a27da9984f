import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  deletePodSet,
  deletionWorld,
  mapChild,
  placesOf,
  podSetOf,
  unavailable,
} from '../../../test/support/fakes/deletion-world.ts';
import { Failing, Waiting } from '../../../test/support/fakes/handmade-plan.ts';
import { KubeError } from '../../kube/roles.ts';

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

describe('reconcile/finalize: what "onDelete" cannot make', () => {
  /** A resource whose backup is blocked, in a namespace that is on its way out or not. */
  async function blockedIn(deletionTimestamp: string | undefined, error: Error) {
    const backup = mapChild('backup', {
      template() {
        throw error;
      },
    });
    const { world } = await deletionWorld({
      children: [mapChild('base')],
      onDelete: { children: [backup] },
    });
    world.cluster.server.put({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: 'default',
        ...(deletionTimestamp && { deletionTimestamp, finalizers: ['kubernetes'] }),
      },
    });
    return world;
  }

  for (const [what, error] of [
    ['what it waits for may be gone', new Waiting('reads.credentials')],
    ['it may have read what is gone', new Failing('Expected text at data.a, found none')],
  ] as const) {
    test(`holds nothing up in a namespace on its way out: ${what}`, async () => {
      const world = await blockedIn('2026-01-01T00:00:00Z', error);
      await deletePodSet(world);
      assert.equal(podSetOf(world), undefined);
      assert.deepEqual(placesOf(world, 'ConfigMap'), []);
    });

    test(`is waited for elsewhere: ${error.message}`, async () => {
      const world = await blockedIn(undefined, error);
      await deletePodSet(world);
      assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/base']);
    });
  }

  test('is waited for where nobody may look at the namespace', async () => {
    const world = await blockedIn('2026-01-01T00:00:00Z', new Waiting('reads.credentials'));
    world.cluster.fault = ({ kind }) =>
      kind === 'Namespace' ? new KubeError('forbidden', 'x', { status: 403 }) : undefined;
    await deletePodSet(world);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/base']);
    assert.match(world.ready('a'), /reads\.credentials/);
  });

  test('a namespace that could not be looked at is looked at again', async () => {
    const world = await blockedIn('2026-01-01T00:00:00Z', new Waiting('reads.credentials'));
    world.cluster.fault = ({ kind }) => (kind === 'Namespace' ? unavailable : undefined);
    await deletePodSet(world);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/base']);
    assert.deepEqual(world.passes.at(-1)?.end, { kind: 'thrown', error: unavailable });
    world.cluster.fault = () => undefined;
    await world.runOne('default/a');
    await world.settle();
    assert.equal(podSetOf(world), undefined);
  });
});
