import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  Failing,
  type HandmadeChild,
  planOf,
  Waiting,
} from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import type { KubeObject } from '../../util/kube-object.ts';

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

async function worldWithShards(children: readonly HandmadeChild[] = [shards()]) {
  const world = new OperatorWorld(planOf({ children }));
  await world.start();
  const podSet = world.podSet('a', { items: ['x', 'y', 'z'] });
  await world.settle();
  assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z']);
  world.cluster.takeWrites();
  return { world, podSet };
}

describe('reconcile/prune', () => {
  test('from three elements to one, two are deleted', async () => {
    const { world, podSet } = await worldWithShards();
    world.edit(podSet, { spec: { items: ['y'] } });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), [
      'delete ConfigMap/shard-x',
      'delete ConfigMap/shard-z',
      'status PodSet/a',
    ]);
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-y']);
    assert.deepEqual(world.status('a').childCounts, { total: 1, ready: 1, failed: 0 });
  });

  test('an empty list deletes all of them', async () => {
    const { world, podSet } = await worldWithShards();
    world.edit(podSet, { spec: { items: [] } });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), []);
    assert.equal(world.ready('a'), 'True AllReady: All children are ready');
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
      const { world, podSet } = await worldWithShards([shards(changes)]);
      world.edit(podSet, { spec: {} });
      await world.settle();
      assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-x', 'shard-y', 'shard-z']);
      assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a']);
      assert.match(world.ready('a'), ready);
    });
  }

  test('a child that gets another name loses the old object only when the new one is there', async () => {
    const renamed = shards({ forEach: ({ resource }) => [resource.spec.name] });
    const world = new OperatorWorld(planOf({ children: [renamed] }));
    await world.start();
    const podSet = world.podSet('a', { name: 'old' });
    const stranger = world.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'shard-new', namespace: 'default' },
    }).object;
    await world.settle();
    world.edit(podSet, { spec: { name: 'new' } });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-new', 'shard-old']);
    world.remove(stranger);
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-new']);
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
    const { world, podSet } = await worldWithShards([shards(), failing]);
    world.edit(podSet, { spec: { items: ['x'] } });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-x']);
  });

  test('what is not wanted any more goes', async () => {
    const when: HandmadeChild['when'] = ({ resource }) => resource.spec.off !== true;
    const { world, podSet } = await worldWithShards([shards({ when })]);
    world.edit(podSet, { spec: { items: ['x'], off: true } });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), []);
  });

  const dropped = [
    ['goes when the pass is a whole success', false, []],
    ['stays while another child fails', true, ['shard-x', 'shard-y', 'shard-z']],
  ] as const;
  for (const [what, fails, left] of dropped) {
    test(`a child that was dropped from the definition ${what}`, async () => {
      const { world } = await worldWithShards();
      const other: HandmadeChild = {
        id: 'other',
        apiVersion: 'v1',
        kind: 'ConfigMap',
        template: () => {
          if (fails) throw new Failing('always');
          return { metadata: { name: 'other' } };
        },
      };
      await world.restart(planOf({ revision: 'r2', children: [other] }));
      await world.settle();
      const names = world.names('v1', 'ConfigMap').filter((name) => name !== 'other');
      assert.deepEqual(names, left);
    });
  }

  test('a child that was renamed in the definition keeps its object', async () => {
    const { world } = await worldWithShards();
    const uid = world.get('v1', 'ConfigMap', 'shard-x')?.metadata.uid;
    await world.restart(planOf({ revision: 'r2', children: [shards({ id: 'pieces' })] }));
    await world.settle();
    const { metadata } = world.get('v1', 'ConfigMap', 'shard-x')!;
    assert.equal(metadata.uid, uid);
    assert.equal(metadata.labels?.['homeostat.dev/child'], 'pieces');
  });

  test('only what is ours goes: neither a copy of our labels nor the child of another resource', async () => {
    const { world, podSet } = await worldWithShards();
    const { metadata } = world.get('v1', 'ConfigMap', 'shard-x')!;
    const stranger = (name: string, changes: Partial<KubeObject['metadata']>) =>
      world.cluster.server.put({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default', labels: metadata.labels!, ...changes },
      });
    stranger('copied', {});
    const controller = {
      apiVersion: 'v1',
      kind: 'Shop',
      name: 'corner',
      uid: 'u',
      controller: true,
    };
    stranger('controlled', { ownerReferences: [controller] });
    world.edit(podSet, { spec: { items: [] } });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['controlled', 'copied']);
  });

  test('what is held by a finalizer is reported until it is gone, and deleted once', async () => {
    const { world, podSet } = await worldWithShards();
    const held = world.get('v1', 'ConfigMap', 'shard-x')!;
    world.edit(held, { metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
    await world.settle();
    world.edit(podSet, { spec: { items: ['y', 'z'] } });
    await world.settle();
    assert.deepEqual(
      (world.status('a').children as { name: string; state: string }[]).map(({ name, state }) => [
        name,
        state,
      ]),
      [
        ['shard-x', 'Deleting'],
        ['shard-y', 'Ready'],
        ['shard-z', 'Ready'],
      ],
    );
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
    const leaving = world.get('v1', 'ConfigMap', 'shard-x')!;
    world.edit(leaving, { metadata: { ...leaving.metadata, finalizers: [] } });
    await world.settle();
    assert.equal((world.status('a').children as unknown[]).length, 2);
  });

  test('in a resource that is being deleted nothing is made, changed or deleted', async () => {
    const { world, podSet } = await worldWithShards();
    const { metadata } = podSet;
    world.edit(podSet, { metadata: { ...metadata, finalizers: ['example.com/hold'] } });
    await world.settle();
    world.remove(podSet);
    world.remove(world.get('v1', 'ConfigMap', 'shard-x')!);
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), []);
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['shard-y', 'shard-z']);
  });
});
