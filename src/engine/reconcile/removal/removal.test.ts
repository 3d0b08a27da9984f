import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  Failing,
  type HandmadeChild,
  type HandmadePlan,
  planOf,
  Waiting,
} from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { withoutOwnership } from './remove-objects.ts';

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

async function harnessOf(children: readonly HandmadeChild[], changes: Partial<HandmadePlan> = {}) {
  const harness = new OperatorHarness(planOf({ ...changes, children }));
  await harness.start();
  const podSet = harness.podSet('a', { items: ['x', 'y', 'z'] });
  await harness.settle();
  harness.cluster.takeWrites();
  return { harness, podSet };
}

function map(harness: OperatorHarness, name: string): KubeObject {
  const object = harness.get('v1', 'ConfigMap', name);
  assert.ok(object, name);
  return object;
}

function annotate(
  harness: OperatorHarness,
  name: string,
  annotations: Record<string, string>,
): void {
  const { metadata } = map(harness, name);
  harness.edit(map(harness, name), {
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
  });
}

function entriesOf(harness: OperatorHarness) {
  const { children = [] } = harness.status('a') as {
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
    const { harness, podSet } = await harnessOf([guarded]);
    harness.edit(podSet, { spec: { items: ['x', 'y'] } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z']);
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
    assert.deepEqual(entriesOf(harness)[0], [
      'shard-z',
      'Deleting',
      'No longer desired; kept until "deleteWhen" is true',
    ]);
    assert.deepEqual(harness.status('a').childCounts, { total: 2, ready: 2, failed: 0 });
    annotate(harness, 'shard-z', { done: 'yes' });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-x', 'shard-y']);
  });

  test('holds what is to be replaced, too', async () => {
    const { harness, podSet } = await harnessOf([
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
    const before = map(harness, 'shard-x').metadata.uid;
    harness.edit(podSet, { spec: { text: 'new' } });
    await harness.settle();
    assert.equal(map(harness, 'shard-x').metadata.uid, before);
    assert.match(
      harness.ready('a'),
      /^False Waiting: .*Replacement on hold: kept until "deleteWhen"/,
    );
    annotate(harness, 'shard-x', { done: 'yes' });
    await harness.settle();
    assert.notEqual(map(harness, 'shard-x').metadata.uid, before);
    assert.deepEqual(map(harness, 'shard-x').data, { text: 'new' });
  });

  test('does not hold what is wanted again', async () => {
    const { harness, podSet } = await harnessOf([guarded]);
    harness.edit(podSet, { spec: { items: [] } });
    await harness.settle();
    harness.edit(podSet, { spec: { items: ['x'] } });
    await harness.settle();
    assert.deepEqual(
      entriesOf(harness).map(([name, state]) => [name, state]),
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
      const { harness, podSet } = await harnessOf([shards({ deleteWhen })]);
      harness.edit(podSet, { spec: { items: ['x', 'y'] } });
      await harness.settle();
      assert.equal(harness.names('v1', 'ConfigMap').length, 3);
      const entry = entriesOf(harness).find(([name]) => name === 'shard-z');
      assert.equal(entry?.[1], state);
      assert.match(String(entry?.[2]), message);
    });
  }
});

describe('reconcile/removal: ordered', () => {
  const ordered = shards({ ordered: true });

  test('from the last, each when the one before is gone', async () => {
    const { harness, podSet } = await harnessOf([ordered]);
    for (const name of ['shard-y', 'shard-z']) {
      const object = map(harness, name);
      harness.edit(object, { metadata: { ...object.metadata, finalizers: ['example.com/hold'] } });
    }
    await harness.settle();
    harness.cluster.takeWrites();
    harness.edit(podSet, { spec: { items: ['x'] } });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['delete ConfigMap/shard-z', 'status PodSet/a']);
    assert.deepEqual(entriesOf(harness).slice(0, 2), [
      ['shard-z', 'Deleting', 'No longer desired'],
      ['shard-y', 'Deleting', 'No longer desired; waiting for ConfigMap "shard-z" to be deleted'],
    ]);
    const leaving = map(harness, 'shard-z');
    harness.edit(leaving, { metadata: { ...leaving.metadata, finalizers: [] } });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['delete ConfigMap/shard-y', 'status PodSet/a']);
  });

  test('the status lists what remains by name, in every process', async () => {
    const keep = shards({ deleteWhen: () => false });
    const { harness, podSet } = await harnessOf([keep]);
    harness.edit(podSet, { spec: { items: ['m', 'z', 'y', 'x'] } });
    await harness.settle();
    harness.edit(podSet, { spec: { items: ['m'] } });
    await harness.settle();
    assert.deepEqual(
      entriesOf(harness)
        .filter(([, state]) => state === 'Deleting')
        .map(([name]) => name),
      ['shard-x', 'shard-y', 'shard-z'],
    );
  });

  test('by the place that an element had, whatever its name', async () => {
    const { harness, podSet } = await harnessOf([ordered]);
    harness.edit(podSet, { spec: { items: ['z', 'y', 'x'] } });
    await harness.settle();
    harness.cluster.takeWrites();
    harness.edit(podSet, { spec: { items: [] } });
    await harness.settle();
    assert.deepEqual(
      harness.cluster.takeWrites().filter((write) => write.startsWith('delete')),
      ['delete ConfigMap/shard-x', 'delete ConfigMap/shard-y', 'delete ConfigMap/shard-z'],
    );
  });
});

describe('reconcile/removal: orphans', () => {
  test("one that is dropped stays, with nothing of us on it, and is no other's child later", async () => {
    const { harness, podSet } = await harnessOf([shards({ deletionPolicy: 'Orphan' })]);
    harness.edit(podSet, { spec: { items: ['x', 'y'] } });
    await harness.settle();
    const { metadata, data } = map(harness, 'shard-z');
    assert.deepEqual([metadata.labels, metadata.annotations, data], [{}, {}, { a: 'b' }]);
    const stored = harness.cluster.server.get(gvkOf('v1', 'ConfigMap'), 'default', 'shard-z');
    assert.deepEqual(stored?.appliedBy, []);
    assert.deepEqual(harness.cluster.takeWrites(), ['edit ConfigMap/shard-z', 'status PodSet/a']);
    // Taking it over again is for `adopt` to allow.
    harness.edit(podSet, { spec: { items: ['x', 'y', 'z'] } });
    await harness.settle();
    assert.match(harness.ready('a'), /^False Conflict: .*"shard-z" already exists/);
  });

  test('one that a user has deleted is not waited for, even if a finalizer keeps it', async () => {
    const { harness, podSet } = await harnessOf([shards({ deletionPolicy: 'Orphan' })]);
    const object = map(harness, 'shard-z');
    harness.edit(object, {
      metadata: {
        ...object.metadata,
        finalizers: ['kubernetes.io/pvc-protection'],
        deletionTimestamp: '2026-01-01T00:00:00Z',
      },
    });
    await harness.settle();
    harness.edit(podSet, { spec: { items: ['x', 'y'] } });
    await harness.settle();
    assert.deepEqual(map(harness, 'shard-z').metadata.labels, {});
    assert.match(harness.ready('a'), /^True AllReady/);
  });

  test('one of a child that the definition has no more stays, too', async () => {
    const { harness } = await harnessOf([shards({ deletionPolicy: 'Orphan' })]);
    await harness.restart(planOf({ children: [shards({ id: 'others', forEach: () => [] })] }));
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z']);
    assert.deepEqual(map(harness, 'shard-x').metadata.labels, {});
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
  function strip(harness: OperatorHarness, name: string): void {
    const { metadata } = map(harness, name);
    harness.edit(map(harness, name), { metadata: { ...metadata, labels: {} } });
  }

  for (const [what, changes] of [
    ['with an owner reference', {}],
    ['with labels only', { deletionPolicy: 'Delete', crossNamespace: true }],
  ] as const) {
    test(`a child ${what} that lost its label is deleted all the same when it is dropped before anybody looks`, async () => {
      const { harness, podSet } = await harnessOf([shards(changes)]);
      strip(harness, 'shard-z');
      harness.edit(podSet, { spec: { items: ['x', 'y'] } });
      await harness.settle();
      assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-x', 'shard-y']);
      harness.cluster.takeWrites();
      await harness.runOne(key);
      assert.deepEqual(harness.cluster.requests, []);
    });

    test(`a child ${what} that lost its label and is wanted gets it back`, async () => {
      const { harness } = await harnessOf([shards(changes)]);
      const before = map(harness, 'shard-z').metadata;
      strip(harness, 'shard-z');
      await harness.settle();
      const after = map(harness, 'shard-z').metadata;
      assert.equal(after.uid, before.uid);
      assert.deepEqual(after.labels, before.labels);
      assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
    });
  }

  test('a child that was handed over to another user is theirs', async () => {
    const { harness, podSet } = await harnessOf([shards({ crossNamespace: true })]);
    const { metadata } = map(harness, 'shard-z');
    const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x', controller: true };
    harness.edit(map(harness, 'shard-z'), {
      metadata: { ...metadata, labels: {}, ownerReferences: [owner] },
    });
    harness.edit(podSet, { spec: { items: ['x', 'y'] } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z']);
  });

  test('another object of that name is unrelated', async () => {
    const { harness, podSet } = await harnessOf([shards({ crossNamespace: true })]);
    harness.remove(map(harness, 'shard-z'));
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'shard-z', namespace: 'default' },
    });
    harness.edit(podSet, { spec: { items: ['x', 'y'] } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z']);
  });
});
