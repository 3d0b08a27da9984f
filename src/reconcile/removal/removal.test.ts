import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  Failing,
  type HandmadeChild,
  type HandmadePlan,
  planOf,
  Waiting,
} from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { withoutOwnership } from './release-object.ts';

const key = 'default/a';

/** ConfigMaps named after `spec.items`. */
function shards(changes: Partial<HandmadeChild> = {}): HandmadeChild {
  return {
    id: 'shards',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    forEach: ({ resource }) => resource.spec.items as string[],
    template: (_, { item }) => ({ metadata: { name: `shard-${item}` }, data: { a: 'b' } }),
    ...changes,
  };
}

async function worldOf(children: readonly HandmadeChild[], changes: Partial<HandmadePlan> = {}) {
  const world = new OperatorWorld(planOf({ ...changes, children }));
  await world.start();
  const podSet = world.podSet('a', { items: ['x', 'y', 'z'] });
  await world.settle();
  world.cluster.takeWrites();
  return { world, podSet };
}

function map(world: OperatorWorld, name: string): KubeObject {
  const object = world.get('v1', 'ConfigMap', name);
  assert.ok(object, name);
  return object;
}

function annotate(world: OperatorWorld, name: string, annotations: Record<string, string>): void {
  const { metadata } = map(world, name);
  world.edit(map(world, name), {
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
  });
}

function entriesOf(world: OperatorWorld) {
  const { children = [] } = world.status('a') as {
    readonly children?: readonly {
      readonly name: string;
      readonly state: string;
      readonly message: string;
    }[];
  };
  return children.map(({ name, state, message }) => [name, state, message]);
}

describe('reconcile/removal: deleteWhen', () => {
  const guarded = shards({ deleteWhen: ({ metadata }) => metadata.annotations?.done === 'yes' });

  test('holds what is to go, without keeping the resource from being ready', async () => {
    const { world, podSet } = await worldOf([guarded]);
    world.edit(podSet, { spec: { items: ['x', 'y'] } });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z']);
    assert.equal(world.ready('a'), 'True AllReady: All children are ready');
    assert.deepEqual(entriesOf(world)[0], [
      'shard-z',
      'Deleting',
      'No longer desired; kept until "deleteWhen" is true',
    ]);
    assert.deepEqual(world.status('a').childCounts, { total: 2, ready: 2, failed: 0 });
    annotate(world, 'shard-z', { done: 'yes' });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-x', 'shard-y']);
  });

  test('holds what is to be replaced, too', async () => {
    const { world, podSet } = await worldOf([
      shards({
        deleteWhen: ({ metadata }) => metadata.annotations?.done === 'yes',
        updateStrategy: { type: 'Recreate' },
        forEach: () => ['x'],
        template: ({ resource }) => ({
          metadata: { name: 'shard-x' },
          data: { text: String(resource.spec.text) },
        }),
      }),
    ]);
    const before = map(world, 'shard-x').metadata.uid;
    world.edit(podSet, { spec: { text: 'new' } });
    await world.settle();
    assert.equal(map(world, 'shard-x').metadata.uid, before);
    assert.match(
      world.ready('a'),
      /^False Waiting: .*Replacement on hold: kept until "deleteWhen"/,
    );
    annotate(world, 'shard-x', { done: 'yes' });
    await world.settle();
    assert.notEqual(map(world, 'shard-x').metadata.uid, before);
    assert.deepEqual(map(world, 'shard-x').data, { text: 'new' });
  });

  test('does not hold what is wanted again', async () => {
    const { world, podSet } = await worldOf([guarded]);
    world.edit(podSet, { spec: { items: [] } });
    await world.settle();
    world.edit(podSet, { spec: { items: ['x'] } });
    await world.settle();
    assert.deepEqual(
      entriesOf(world).map(([name, state]) => [name, state]),
      [
        ['shard-y', 'Deleting'],
        ['shard-z', 'Deleting'],
        ['shard-x', 'Ready'],
      ],
    );
  });

  for (const [what, deleteWhen, state, message] of [
    [
      'fails',
      () => {
        throw new Failing('Expected a number, found none');
      },
      'Failed',
      /Expected a number/,
    ],
    [
      'waits',
      () => {
        throw new Waiting('reads.lease');
      },
      'Deleting',
      /kept: "deleteWhen" waits for reads.lease/,
    ],
  ] as const) {
    test(`one that ${what} deletes nothing, and says so`, async () => {
      const { world, podSet } = await worldOf([shards({ deleteWhen })]);
      world.edit(podSet, { spec: { items: ['x', 'y'] } });
      await world.settle();
      assert.equal(world.names('v1', 'ConfigMap').length, 3);
      const entry = entriesOf(world).find(([name]) => name === 'shard-z');
      assert.equal(entry?.[1], state);
      assert.match(String(entry?.[2]), message);
    });
  }
});

describe('reconcile/removal: ordered', () => {
  const ordered = shards({ ordered: true });

  test('from the last, each when the one before is gone', async () => {
    const { world, podSet } = await worldOf([ordered]);
    for (const name of ['shard-y', 'shard-z']) {
      const object = map(world, name);
      world.edit(object, { metadata: { ...object.metadata, finalizers: ['example.com/hold'] } });
    }
    await world.settle();
    world.cluster.takeWrites();
    world.edit(podSet, { spec: { items: ['x'] } });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['delete ConfigMap/shard-z', 'status PodSet/a']);
    assert.deepEqual(entriesOf(world).slice(0, 2), [
      ['shard-z', 'Deleting', 'No longer desired'],
      ['shard-y', 'Deleting', 'No longer desired; waiting for ConfigMap "shard-z" to be deleted'],
    ]);
    const leaving = map(world, 'shard-z');
    world.edit(leaving, { metadata: { ...leaving.metadata, finalizers: [] } });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['delete ConfigMap/shard-y', 'status PodSet/a']);
  });

  test('by the place that an element had, whatever its name', async () => {
    const { world, podSet } = await worldOf([ordered]);
    world.edit(podSet, { spec: { items: ['z', 'y', 'x'] } });
    await world.settle();
    world.cluster.takeWrites();
    world.edit(podSet, { spec: { items: [] } });
    await world.settle();
    assert.deepEqual(
      world.cluster.takeWrites().filter((write) => write.startsWith('delete')),
      ['delete ConfigMap/shard-x', 'delete ConfigMap/shard-y', 'delete ConfigMap/shard-z'],
    );
  });
});

describe('reconcile/removal: orphans', () => {
  test("one that is dropped stays, with nothing of us on it, and is no other's child later", async () => {
    const { world, podSet } = await worldOf([shards({ deletionPolicy: 'Orphan' })]);
    world.edit(podSet, { spec: { items: ['x', 'y'] } });
    await world.settle();
    const { metadata, data } = map(world, 'shard-z');
    assert.deepEqual([metadata.labels, metadata.annotations, data], [{}, {}, { a: 'b' }]);
    const stored = world.cluster.server.get(gvkOf('v1', 'ConfigMap'), 'default', 'shard-z');
    assert.deepEqual(stored?.appliedBy, []);
    assert.deepEqual(world.cluster.takeWrites(), ['edit ConfigMap/shard-z', 'status PodSet/a']);
    // Taking it over again is for `adopt` to allow.
    world.edit(podSet, { spec: { items: ['x', 'y', 'z'] } });
    await world.settle();
    assert.match(world.ready('a'), /^False Conflict: .*"shard-z" already exists/);
  });

  test('one of a child that the definition has no more stays, too', async () => {
    const { world } = await worldOf([shards({ deletionPolicy: 'Orphan' })]);
    await world.restart(planOf({ children: [shards({ id: 'others', forEach: () => [] })] }));
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z']);
    assert.deepEqual(map(world, 'shard-x').metadata.labels, {});
  });

  test('only what is ours is taken off', () => {
    const ours = { manager: 'homeostat/podset', operation: 'Apply', fieldsV1: {} };
    const others = [
      { manager: 'homeostat/podset', operation: 'Update' },
      { manager: 'homeostat/other', operation: 'Apply' },
    ];
    const owner = { apiVersion: 'v1', kind: 'X', name: 'x' };
    const metadata = {
      name: 'a',
      labels: { 'homeostat.dev/child': 'a', 'app.kubernetes.io/managed-by': 'helm', app: 'a' },
      annotations: { 'homeostat.dev/applied': 'x', note: 'y' },
      ownerReferences: [
        { ...owner, uid: 'us' },
        { ...owner, uid: 'them' },
      ],
      managedFields: [ours, ...others],
    };
    assert.deepEqual(withoutOwnership(metadata, { manager: 'homeostat/podset', ownerUid: 'us' }), {
      labels: { 'homeostat.dev/child': null },
      annotations: { 'homeostat.dev/applied': null },
      ownerReferences: [{ ...owner, uid: 'them' }],
      managedFields: others,
    });
    const alone = { name: 'a', managedFields: [ours] };
    assert.deepEqual(
      withoutOwnership(alone, { manager: 'homeostat/podset', ownerUid: 'us' }).managedFields,
      [{}],
    );
  });

  test('all that a child carries is taken off; what people have written under our prefix is theirs', () => {
    const labels = {
      'app.kubernetes.io/managed-by': 'homeostat',
      'homeostat.dev/definition': 'podset',
      'homeostat.dev/child': 'a',
      'homeostat.dev/owner-uid': 'us',
    };
    const annotations = {
      'homeostat.dev/applied': 'x',
      'homeostat.dev/intent': 'x',
      'homeostat.dev/selected-by': 'x',
      'homeostat.dev/deletion-policy': 'Orphan',
      'homeostat.dev/delete-when': 'true',
      'homeostat.dev/index': '0',
    };
    const theirs = { 'homeostat.dev/paused': 'true', 'homeostat.dev/skip-on-delete': 'true' };
    const patch = withoutOwnership(
      {
        name: 'a',
        labels: { ...labels, 'homeostat.dev/definitions': 'true' },
        annotations: { ...annotations, ...theirs },
      },
      { manager: 'homeostat/podset', ownerUid: 'us' },
    );
    assert.deepEqual(Object.keys(patch.labels ?? {}).sort(), Object.keys(labels).sort());
    assert.deepEqual(Object.keys(patch.annotations ?? {}).sort(), Object.keys(annotations).sort());
  });
});

describe('reconcile/removal: strays', () => {
  /** Somebody takes all labels off. */
  function strip(world: OperatorWorld, name: string): void {
    const { metadata } = map(world, name);
    world.edit(map(world, name), { metadata: { ...metadata, labels: {} } });
  }

  for (const [what, changes] of [
    ['with an owner reference', {}],
    ['with labels only', { deletionPolicy: 'Delete', crossNamespace: true }],
  ] as const) {
    test(`a child ${what} that lost its label goes all the same when it is dropped before anybody looks`, async () => {
      const { world, podSet } = await worldOf([shards(changes)]);
      strip(world, 'shard-z');
      world.edit(podSet, { spec: { items: ['x', 'y'] } });
      await world.settle();
      assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-x', 'shard-y']);
      world.cluster.takeWrites();
      await world.runOne(key);
      assert.deepEqual(world.cluster.requests, []);
    });

    test(`a child ${what} that lost its label and is wanted gets it back`, async () => {
      const { world } = await worldOf([shards(changes)]);
      const before = map(world, 'shard-z').metadata;
      strip(world, 'shard-z');
      await world.settle();
      const after = map(world, 'shard-z').metadata;
      assert.equal(after.uid, before.uid);
      assert.deepEqual(after.labels, before.labels);
      assert.equal(world.ready('a'), 'True AllReady: All children are ready');
    });
  }

  test('a child that was handed over to another user is theirs', async () => {
    const { world, podSet } = await worldOf([shards({ crossNamespace: true })]);
    const { metadata } = map(world, 'shard-z');
    const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x', controller: true };
    world.edit(map(world, 'shard-z'), {
      metadata: { ...metadata, labels: {}, ownerReferences: [owner] },
    });
    world.edit(podSet, { spec: { items: ['x', 'y'] } });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z']);
  });

  test('another object of that name is unrelated', async () => {
    const { world, podSet } = await worldOf([shards({ crossNamespace: true })]);
    world.remove(map(world, 'shard-z'));
    world.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'shard-z', namespace: 'default' },
    });
    world.edit(podSet, { spec: { items: ['x', 'y'] } });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z']);
  });
});
