import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  Failing,
  type HandmadeChild,
  type HandmadePlan,
  planOf,
} from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';

const key = 'default/a';

/** A ConfigMap of that name with that data. */
function configMap(id: string, changes: Partial<HandmadeChild> = {}): HandmadeChild {
  return {
    id,
    apiVersion: 'v1',
    kind: 'ConfigMap',
    template: () => ({ metadata: { name: id }, data: { of: id } }),
    ...changes,
  };
}

async function worldOf(plan: HandmadePlan): Promise<OperatorWorld> {
  const world = new OperatorWorld(planOf(plan));
  await world.start();
  return world;
}

describe('reconcile/pass tiers', () => {
  test('a chain of three is made in one pass', async () => {
    const world = await worldOf({
      children: [
        configMap('first'),
        configMap('second', {
          tier: 1,
          template: (view) => ({
            metadata: { name: 'second' },
            data: { uid: view.child('first')!.metadata.uid },
          }),
        }),
        configMap('third', {
          tier: 2,
          template: (view) => ({
            metadata: { name: 'third' },
            data: { uid: view.child('second')!.metadata.uid },
          }),
        }),
      ],
    });
    world.podSet('a');
    await world.settle();
    assert.equal(world.passes.length, 1);
    assert.deepEqual(world.cluster.takeWrites(), [
      'apply ConfigMap/first',
      'apply ConfigMap/second',
      'apply ConfigMap/third',
      'status PodSet/a',
    ]);
    const second = world.get('v1', 'ConfigMap', 'second')!;
    assert.deepEqual(second.data, { uid: world.get('v1', 'ConfigMap', 'first')!.metadata.uid });
    assert.equal(world.ready('a'), 'True AllReady: All children are ready');
  });

  test('what reads a child that cannot be made waits and says for what', async () => {
    const world = await worldOf({
      children: [
        configMap('first', {
          template: () => {
            throw new Failing('Expected a string, found "7"');
          },
        }),
        configMap('second', {
          tier: 1,
          template: (view) => ({ metadata: { name: view.child('first')!.metadata.name } }),
        }),
      ],
    });
    world.podSet('a');
    await world.settle();
    assert.equal(world.ready('a'), 'False RenderFailed: first: spec: Expected a string, found "7"');
    assert.deepEqual(world.status('a').children, [
      {
        id: 'first',
        apiVersion: 'v1',
        kind: 'ConfigMap',
        namespace: 'default',
        name: '',
        state: 'Failed',
        message: 'spec: Expected a string, found "7"',
      },
      {
        id: 'second',
        apiVersion: 'v1',
        kind: 'ConfigMap',
        namespace: 'default',
        name: '',
        state: 'Waiting',
        message: 'Waiting for children.first',
      },
    ]);
    assert.deepEqual(world.status('a').childCounts, { total: 2, ready: 0, failed: 1 });
  });

  test('what reads a list of children waits until all elements that are wanted exist', async () => {
    let isPoor = true;
    const world = await worldOf({
      children: [
        configMap('each', {
          forEach: () => ['a', 'b'],
          template: (_view, { item }) => {
            if (item === 'b' && isPoor) throw new Failing('no b yet');
            return { metadata: { name: `each-${item}` } };
          },
        }),
        configMap('sum', {
          tier: 1,
          template: (view) => ({
            metadata: { name: 'sum' },
            data: { of: String(view.children('each').length) },
          }),
        }),
      ],
    });
    const resource = world.podSet('a');
    await world.settle();
    assert.equal(world.get('v1', 'ConfigMap', 'sum'), undefined);
    isPoor = false;
    world.edit(resource, { spec: { size: 2 } });
    await world.settle();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'sum')?.data, { of: '2' });
  });

  test('a child that is not wanted is a missing value, not waited for', async () => {
    const world = await worldOf({
      children: [
        configMap('first', { when: () => false }),
        configMap('second', {
          tier: 1,
          template: (view) => ({
            metadata: { name: 'second' },
            data: { first: String(view.child('first')) },
          }),
        }),
      ],
    });
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'second')?.data, { first: 'undefined' });
    assert.deepEqual(world.decisions.get(key)?.children[0]?.verdict, { kind: 'omitted' });
    assert.deepEqual(world.status('a').childCounts, { total: 1, ready: 1, failed: 0 });
  });

  test('what exists can be read though its new intent fails', async () => {
    const world = await worldOf({
      children: [
        configMap('first', {
          template: ({ resource }) => {
            if (resource.spec.broken) throw new Failing('broken');
            return { metadata: { name: 'first' } };
          },
        }),
        configMap('second', {
          tier: 1,
          template: (view) => ({
            metadata: { name: 'second' },
            data: {
              first: view.child('first')!.metadata.name,
              size: String(view.resource.spec.size),
            },
          }),
        }),
      ],
    });
    const podSet = world.podSet('a', { size: 1 });
    await world.settle();
    world.edit(podSet, { spec: { broken: true, size: 2 } });
    await world.settle();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'second')?.data, { first: 'first', size: '2' });
    assert.match(world.ready('a'), /RenderFailed: first "first": spec: broken/);
  });

  test('two elements of one name fail, and no other child does', async () => {
    const world = await worldOf({
      children: [
        configMap('shards', {
          forEach: () => ['x', 'y', 'x'],
          template: (_, { item }) => ({ metadata: { name: `shard-${item}` } }),
        }),
        configMap('other'),
      ],
    });
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), ['other', 'shard-y']);
    assert.match(
      world.ready('a'),
      /RenderFailed: shards: metadata.name: "shard-x" is used by two elements/,
    );
  });

  test('of two children with one name the first keeps it', async () => {
    const world = await worldOf({
      children: [
        configMap('one', { template: () => ({ metadata: { name: 'same' }, data: { of: 'one' } }) }),
        configMap('two', { template: () => ({ metadata: { name: 'same' }, data: { of: 'two' } }) }),
      ],
    });
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'same')?.data, { of: 'one' });
    assert.match(world.ready('a'), /RenderFailed: two: .*"same" is also used by child "one"/);
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  const limits = [
    ['elements of a forEach', [1_001], 'Expected at most 1000 elements, found "1001"'],
    ['children of a resource', [1_000, 1_000, 1], 'Expected at most 2000 children, found "2001"'],
  ] as const;
  for (const [what, sizes, message] of limits) {
    test(`too many ${what} are rejected`, async () => {
      const world = await worldOf({
        children: sizes.map((size, index) =>
          configMap(`c${index}`, {
            forEach: () => Array.from({ length: size }, (_, number) => number),
            template: (_, { item }) => ({ metadata: { name: `c${index}-${item}` } }),
          }),
        ),
      });
      world.podSet('a');
      await world.settle();
      assert.ok(world.ready('a').startsWith('False LimitReached: '));
      assert.ok(world.ready('a').endsWith(message));
    });
  }

  test('a cluster-scoped child of a namespaced resource is rejected', async () => {
    const world = await worldOf({
      children: [
        {
          ...configMap('zone'),
          kind: 'Namespace',
          template: () => ({ metadata: { name: 'zone' } }),
        },
      ],
    });
    world.podSet('a');
    await world.settle();
    assert.equal(
      world.ready('a'),
      'False RenderFailed: zone: kind: "Namespace" is cluster-scoped; set "crossNamespace" to allow it',
    );
    assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a']);
  });

  test("a namespace that is not the resource's own is rejected", async () => {
    const world = await worldOf({
      children: [
        configMap('far', {
          template: () => ({ metadata: { name: 'far', namespace: 'kube-system' } }),
        }),
      ],
    });
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), []);
    assert.match(
      world.ready('a'),
      /RenderFailed: far: metadata.namespace: "kube-system" is not the namespace of the resource; set/,
    );
  });
});

describe('reconcile/pass names', () => {
  test('a child that waits or fails is reported by its name, where the name is known', async () => {
    const broken = configMap('broken');
    const world = new OperatorWorld(
      planOf({
        children: [
          {
            ...broken,
            name: 'broken-map',
            template: () => {
              throw new Failing('Expected text at data.a, found none');
            },
          },
        ],
      }),
    );
    await world.start();
    world.podSet('a');
    await world.settle();
    assert.match(world.ready('a'), /^False RenderFailed: broken "broken-map": /);
    const [child] = world.status('a').children as { name: string }[];
    assert.equal(child?.name, 'broken-map');
  });
});

describe('reconcile/pass unusable kinds', () => {
  const states = [
    [
      'kind-missing',
      404,
      'False KindMissing: first: The cluster does not serve kind "ConfigMap" of "v1"',
      'Waiting',
    ],
    ['forbidden', 403, 'False Forbidden: first: configmaps is forbidden', 'Failed'],
  ] as const;
  for (const [code, status, ready, state] of states) {
    test(`a child whose kind is ${code} says so, and is made when the kind can be watched`, async () => {
      const { KubeError } = await import('../../kube/roles.ts');
      const world = new OperatorWorld(planOf({ children: [configMap('first')] }));
      world.cluster.block('ConfigMap', new KubeError(code, 'configmaps is forbidden', { status }));
      await world.start();
      assert.deepEqual(
        world.operator.problems().map(({ what, code }) => [what, code]),
        [['children (v1/ConfigMap)', code]],
      );
      world.podSet('a');
      await world.settle();
      assert.equal(world.ready('a'), ready);
      assert.equal((world.status('a').children as { state: string }[])[0]?.state, state);
      assert.deepEqual(world.names('v1', 'ConfigMap'), []);
      world.cluster.unblock('ConfigMap');
      await world.settle();
      assert.deepEqual(world.names('v1', 'ConfigMap'), ['first']);
      assert.match(world.ready('a'), /^True/);
    });
  }
});
