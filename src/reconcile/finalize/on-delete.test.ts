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
import { Failing, type HandmadePlan, Waiting } from '../../../test/support/fakes/handmade-plan.ts';
import type { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { KubeError } from '../../kube/roles.ts';

const key = 'default/a';

describe('reconcile/finalize: onDelete', () => {
  /** Ready when somebody says so. */
  const backup = mapChild('backup', {
    template: (view) => ({
      metadata: { name: 'backup' },
      data: { of: String(view.child('base')?.metadata.name) },
    }),
    ready: (child) => child.metadata.annotations?.done === 'yes',
  });
  const plan: HandmadePlan = {
    children: [mapChild('base'), mapChild('dependent', { tier: 1 })],
    onDelete: { children: [backup], timeoutMs: 60_000 },
  };

  /** A deletion that waits for the backup. */
  async function waiting(changes: Partial<HandmadePlan['onDelete']> = {}) {
    const onDelete = { children: [backup], timeoutMs: 60_000, ...changes };
    const { world } = await deletionWorld({ ...plan, onDelete });
    await deletePodSet(world);
    return world;
  }

  function finishBackup(world: OperatorWorld): void {
    const made = world.get('v1', 'ConfigMap', 'backup');
    assert.ok(made);
    world.edit(made, {
      metadata: { ...made.metadata, annotations: { ...made.metadata.annotations, done: 'yes' } },
    });
  }

  test('what it makes sees the children, and is waited for', async () => {
    const world = await waiting();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'backup')?.data, { of: 'base' });
    assert.deepEqual(placesOf(world, 'ConfigMap'), [
      'default/backup',
      'default/base',
      'default/dependent',
    ]);
    assert.match(
      world.ready('a'),
      /^False Terminating: .*ConfigMap "backup" \(child "backup"\) to be ready/,
    );
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
  });

  test('then dependents go first, and what it has made last', async () => {
    const world = await waiting();
    world.cluster.takeWrites();
    finishBackup(world);
    await world.settle();
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(
      world.cluster.takeWrites().filter((write) => write.startsWith('delete')),
      ['delete ConfigMap/dependent', 'delete ConfigMap/base', 'delete ConfigMap/backup'],
    );
  });

  test('with "order: Parallel" the children go at once, and what it has made last', async () => {
    const world = await waiting({ order: 'Parallel' });
    for (const name of ['base', 'dependent']) {
      const object = world.get('v1', 'ConfigMap', name);
      assert.ok(object);
      world.edit(object, { metadata: { ...object.metadata, finalizers: ['example.com/hold'] } });
    }
    await world.settle();
    world.cluster.takeWrites();
    finishBackup(world);
    await world.settle();
    const deleted = () => world.cluster.takeWrites().filter((write) => write.startsWith('delete'));
    assert.deepEqual(deleted(), ['delete ConfigMap/base', 'delete ConfigMap/dependent']);
    for (const name of ['base', 'dependent']) {
      const object = world.get('v1', 'ConfigMap', name);
      assert.ok(object);
      world.edit(object, { metadata: { ...object.metadata, finalizers: [] } });
    }
    await world.settle();
    assert.deepEqual(deleted(), ['delete ConfigMap/backup']);
    assert.equal(podSetOf(world), undefined);
  });

  test('what has been ready once is not made again when it is gone', async () => {
    const world = await waiting();
    const held = world.get('v1', 'ConfigMap', 'base');
    assert.ok(held);
    world.edit(held, { metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
    finishBackup(world);
    await world.settle();
    const made = world.get('v1', 'ConfigMap', 'backup');
    assert.ok(made);
    world.remove(made);
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/base']);
  });

  test('one that cannot be rendered holds the deletion up, and says so', async () => {
    const broken = mapChild('backup', {
      template: () => {
        throw new Failing('Expected text at data.a, found none');
      },
    });
    const world = await waiting({ children: [broken] });
    assert.match(world.ready('a'), /^False RenderFailed: backup: /);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/base', 'default/dependent']);
  });

  test('the queue retries when its time is over; then it stalls, an Event reports it once, and it continues waiting', async () => {
    const world = await waiting();
    assert.deepEqual(world.passes.at(-1)?.end, {
      kind: 'requeue',
      afterMs: 60_000,
      reason: 'Terminating',
    });
    await world.clock.advance(60_000);
    await world.runOne(key);
    await world.settle();
    const { conditions } = world.status('a') as {
      conditions: readonly { readonly type: string; readonly reason: string }[];
    };
    const stalled = conditions.find(({ type }) => type === 'Stalled');
    assert.equal(stalled?.reason, 'Terminating');
    const told = () => world.cluster.told.filter(({ reason }) => reason === 'DeletionTimedOut');
    assert.equal(told().length, 1);
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
    assert.equal(told().length, 1);
    finishBackup(world);
    await world.settle();
    assert.equal(podSetOf(world), undefined);
  });

  test('with "onTimeout: Continue" it continues without, and a guarded object is left behind', async () => {
    const guarded = mapChild('guarded', { deleteWhen: () => false });
    const { world } = await deletionWorld({
      children: [...(plan.children ?? []), guarded],
      onDelete: { children: [backup], timeoutMs: 60_000, onTimeout: 'Continue' },
    });
    await deletePodSet(world);
    assert.ok(podSetOf(world));
    await world.clock.advance(60_000);
    await world.runOne(key);
    await world.settle();
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/guarded']);
    assert.deepEqual(world.get('v1', 'ConfigMap', 'guarded')?.metadata.labels, {});
  });

  test('in a namespace on its way out nothing is made, and nothing waited for', async () => {
    const { world } = await deletionWorld(plan);
    world.cluster.fault = ({ verb, name }) =>
      verb === 'apply' && name === 'backup'
        ? new KubeError('namespace-terminating', 'x', { status: 403 })
        : undefined;
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
  });
});

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

  test('is waited for without the right to read the namespace', async () => {
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
