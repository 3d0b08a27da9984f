import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import {
  Failing,
  type HandmadeChild,
  planOf,
  Waiting,
} from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

const key = 'default/a';

/** ConfigMaps named after `spec.items`; what else a test wants to happen is in `spec` too. */
function shards(changes: Partial<HandmadeChild> = {}): HandmadeChild {
  return {
    id: 'shards',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    forEach: ({ resource }) => resource.spec.items as string[],
    template: (_, { item }) => ({ metadata: { name: `shard-${item}` } }),
    ...changes,
  };
}

async function harnessWithShards(children: readonly HandmadeChild[] = [shards()]) {
  const harness = new OperatorHarness(planOf({ children }));
  await harness.start();
  const podSet = harness.podSet('a', { items: ['x', 'y', 'z'] });
  await harness.settle();
  assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z']);
  harness.cluster.takeWrites();
  return { harness, podSet };
}

describe('reconcile/prune', () => {
  test('from three elements to one, two are deleted', async () => {
    const { harness, podSet } = await harnessWithShards();
    harness.edit(podSet, { spec: { items: ['y'] } });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), [
      'delete ConfigMap/shard-x',
      'delete ConfigMap/shard-z',
      'status PodSet/a',
    ]);
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-y']);
    assert.deepEqual(harness.status('a').childCounts, { total: 1, ready: 1, failed: 0 });
  });

  test('an empty list deletes all of them', async () => {
    const { harness, podSet } = await harnessWithShards();
    harness.edit(podSet, { spec: { items: [] } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
  });

  const keeps: readonly (readonly [string, Partial<HandmadeChild>, RegExp])[] = [
    [
      'a forEach without a result',
      { forEach: ({ resource }) => resource.spec.items as never },
      /RenderFailed: shards: forEach/,
    ],
    [
      'a when without a result',
      { when: ({ resource }) => (resource.spec.items ? true : (undefined as never)) },
      /RenderFailed: shards: when/,
    ],
    [
      'a forEach that fails',
      {
        forEach: ({ resource }) => {
          if (resource.spec.items === undefined) throw new Failing('no');
          return resource.spec.items as string[];
        },
      },
      /RenderFailed/,
    ],
    [
      'a forEach that waits',
      {
        forEach: ({ resource }) => {
          if (resource.spec.items === undefined) throw new Waiting('reads.items');
          return resource.spec.items as string[];
        },
      },
      /Waiting: shards: Waiting for reads.items/,
    ],
    [
      'an element that cannot be rendered',
      {
        forEach: ({ resource }) => (resource.spec.items as string[] | undefined) ?? ['x', 'bad'],
        template: (_, { item }) => {
          if (item === 'bad') throw new Failing('bad');
          return { metadata: { name: `shard-${item}` } };
        },
      },
      /RenderFailed/,
    ],
  ];
  for (const [what, changes, ready] of keeps) {
    test(`${what} deletes nothing`, async () => {
      const { harness, podSet } = await harnessWithShards([shards(changes)]);
      harness.edit(podSet, { spec: {} });
      await harness.settle();
      assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z']);
      assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a']);
      assert.match(harness.ready('a'), ready);
    });
  }

  test('a child that gets another name loses the old object only when the new one is there', async () => {
    const renamed = shards({ forEach: ({ resource }) => [resource.spec.name] });
    const harness = new OperatorHarness(planOf({ children: [renamed] }));
    await harness.start();
    const podSet = harness.podSet('a', { name: 'old' });
    const foreignObject = harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'shard-new', namespace: 'default' },
    }).object;
    await harness.settle();
    harness.edit(podSet, { spec: { name: 'new' } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-new', 'shard-old']);
    harness.remove(foreignObject);
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-new']);
  });

  test('a child that fails keeps no other child from losing its own', async () => {
    const failing: HandmadeChild = {
      id: 'failing',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      template: () => {
        throw new Failing('always');
      },
    };
    const { harness, podSet } = await harnessWithShards([shards(), failing]);
    harness.edit(podSet, { spec: { items: ['x'] } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-x']);
  });

  test('what is pruned after readiness stays while another child is not ready', async () => {
    const user: HandmadeChild = {
      id: 'user',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      ready: ({ data }) => (data as { done?: string } | undefined)?.done === 'true',
      template: ({ resource }) => ({
        metadata: { name: 'user' },
        data: { done: String(resource.spec.done) },
      }),
    };
    const children = [shards({ prunesAfterReady: true }), user];
    const harness = new OperatorHarness(planOf({ children }));
    await harness.start();
    const podSet = harness.podSet('a', { items: ['x', 'y', 'z'], done: true });
    await harness.settle();
    const edited = harness.edit(podSet, { spec: { items: ['x'], done: false } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z', 'user']);
    const leaving = (harness.status('a').children as { name: string; message: string }[]).find(
      ({ name }) => name === 'shard-y',
    );
    assert.equal(
      leaving?.message,
      'No longer desired; kept until its successor is in use: waiting for children.user to be ready',
    );
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    harness.edit(edited, { spec: { items: ['x'], done: true } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-x', 'user']);
  });

  test('what is no longer desired is deleted', async () => {
    const when: HandmadeChild['when'] = ({ resource }) => resource.spec.off !== true;
    const { harness, podSet } = await harnessWithShards([shards({ when })]);
    harness.edit(podSet, { spec: { items: ['x'], off: true } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
  });

  const dropped = [
    ['is deleted when the reconcile succeeds as a whole', false, []],
    ['stays while another child fails', true, ['shard-x', 'shard-y', 'shard-z']],
  ] as const;
  for (const [what, fails, left] of dropped) {
    test(`a child that was dropped from the definition ${what}`, async () => {
      const { harness } = await harnessWithShards();
      const other: HandmadeChild = {
        id: 'other',
        apiVersion: 'v1',
        kind: 'ConfigMap',
        template: () => {
          if (fails) throw new Failing('always');
          return { metadata: { name: 'other' } };
        },
      };
      await harness.restart(planOf({ revision: 'r2', children: [other] }));
      await harness.settle();
      const names = harness.names('v1', 'ConfigMap').filter((name) => name !== 'other');
      assert.deepEqual(names, left);
    });
  }

  test('a child that was renamed in the definition keeps its object', async () => {
    const { harness } = await harnessWithShards();
    const uid = harness.get('v1', 'ConfigMap', 'shard-x')?.metadata.uid;
    await harness.restart(planOf({ revision: 'r2', children: [shards({ id: 'pieces' })] }));
    await harness.settle();
    const { metadata } = harness.get('v1', 'ConfigMap', 'shard-x')!;
    assert.equal(metadata.uid, uid);
    assert.equal(metadata.labels?.['homeostat.dev/child'], 'pieces');
  });

  test('only what is ours is deleted: neither a copy of our labels nor the child of another resource', async () => {
    const { harness, podSet } = await harnessWithShards();
    const { metadata } = harness.get('v1', 'ConfigMap', 'shard-x')!;
    const foreignObject = (name: string, changes: Partial<KubeObject['metadata']>) =>
      harness.cluster.server.put({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default', labels: metadata.labels!, ...changes },
      });
    foreignObject('copied', {});
    const controller = {
      apiVersion: 'v1',
      kind: 'Shop',
      name: 'corner',
      uid: 'u',
      controller: true,
    };
    foreignObject('controlled', { ownerReferences: [controller] });
    harness.edit(podSet, { spec: { items: [] } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['controlled', 'copied']);
  });

  test('what is held by a finalizer is reported until it is gone, and deleted once', async () => {
    const { harness, podSet } = await harnessWithShards();
    const held = harness.get('v1', 'ConfigMap', 'shard-x')!;
    harness.edit(held, { metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
    await harness.settle();
    harness.edit(podSet, { spec: { items: ['y', 'z'] } });
    await harness.settle();
    assert.deepEqual(
      (harness.status('a').children as { name: string; state: string }[]).map(({ name, state }) => [
        name,
        state,
      ]),
      [
        ['shard-x', 'Deleting'],
        ['shard-y', 'Ready'],
        ['shard-z', 'Ready'],
      ],
    );
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    const leaving = harness.get('v1', 'ConfigMap', 'shard-x')!;
    harness.edit(leaving, { metadata: { ...leaving.metadata, finalizers: [] } });
    await harness.settle();
    assert.equal((harness.status('a').children as unknown[]).length, 2);
  });

  test('in a resource that is being deleted nothing is made, changed or deleted', async () => {
    const { harness, podSet } = await harnessWithShards();
    const { metadata } = podSet;
    harness.edit(podSet, { metadata: { ...metadata, finalizers: ['example.com/hold'] } });
    await harness.settle();
    harness.remove(podSet);
    harness.remove(harness.get('v1', 'ConfigMap', 'shard-x')!);
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['shard-y', 'shard-z']);
  });
});
