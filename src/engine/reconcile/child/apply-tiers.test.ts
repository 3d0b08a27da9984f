import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  Failing,
  type HandmadeChild,
  type HandmadePlan,
  planOf,
} from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

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

async function harnessOf(plan: HandmadePlan): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOf(plan));
  await harness.start();
  return harness;
}

describe('reconcile/pass tiers', () => {
  test('a chain of three is made in one pass', async () => {
    const harness = await harnessOf({
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
    harness.podSet('a');
    await harness.settle();
    assert.equal(harness.passes.length, 1);
    assert.deepEqual(harness.cluster.takeWrites(), [
      'apply ConfigMap/first',
      'apply ConfigMap/second',
      'apply ConfigMap/third',
      'status PodSet/a',
    ]);
    const second = harness.get('v1', 'ConfigMap', 'second')!;
    assert.deepEqual(second.data, { uid: harness.get('v1', 'ConfigMap', 'first')!.metadata.uid });
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
  });

  test('what reads a child that cannot be made waits and says for what', async () => {
    const harness = await harnessOf({
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
    harness.podSet('a');
    await harness.settle();
    assert.equal(
      harness.ready('a'),
      'False RenderFailed: first: spec: Expected a string, found "7"',
    );
    assert.deepEqual(harness.status('a').children, [
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
    assert.deepEqual(harness.status('a').childCounts, { total: 2, ready: 0, failed: 1 });
  });

  test('what reads a list of children waits until all elements that are wanted exist', async () => {
    let isPoor = true;
    const harness = await harnessOf({
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
    const resource = harness.podSet('a');
    await harness.settle();
    assert.equal(harness.get('v1', 'ConfigMap', 'sum'), undefined);
    isPoor = false;
    harness.edit(resource, { spec: { size: 2 } });
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'sum')?.data, { of: '2' });
  });

  test('a child that is not wanted is a missing value, not waited for', async () => {
    const harness = await harnessOf({
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
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'second')?.data, { first: 'undefined' });
    assert.deepEqual(harness.decisions.get(key)?.children[0]?.verdict, { kind: 'omitted' });
    assert.deepEqual(harness.status('a').childCounts, { total: 1, ready: 1, failed: 0 });
  });

  test('what exists can be read though its new intent fails', async () => {
    const harness = await harnessOf({
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
    const podSet = harness.podSet('a', { size: 1 });
    await harness.settle();
    harness.edit(podSet, { spec: { broken: true, size: 2 } });
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'second')?.data, { first: 'first', size: '2' });
    assert.match(harness.ready('a'), /RenderFailed: first "first": spec: broken/);
  });

  test('two elements of one name fail, and no other child does', async () => {
    const harness = await harnessOf({
      children: [
        configMap('shards', {
          forEach: () => ['x', 'y', 'x'],
          template: (_, { item }) => ({ metadata: { name: `shard-${item}` } }),
        }),
        configMap('other'),
      ],
    });
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['other', 'shard-y']);
    assert.match(
      harness.ready('a'),
      /RenderFailed: shards: metadata.name: "shard-x" is used by two elements/,
    );
  });

  test('of two children with one name the first keeps it', async () => {
    const harness = await harnessOf({
      children: [
        configMap('one', { template: () => ({ metadata: { name: 'same' }, data: { of: 'one' } }) }),
        configMap('two', { template: () => ({ metadata: { name: 'same' }, data: { of: 'two' } }) }),
      ],
    });
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'same')?.data, { of: 'one' });
    assert.match(harness.ready('a'), /RenderFailed: two: .*"same" is also used by child "one"/);
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  const limits = [
    ['elements of a forEach', [1_001], 'Expected at most 1000 elements, found "1001"'],
    ['children of a resource', [1_000, 1_000, 1], 'Expected at most 2000 children, found "2001"'],
  ] as const;
  for (const [what, sizes, message] of limits) {
    test(`too many ${what} are rejected`, async () => {
      const harness = await harnessOf({
        children: sizes.map((size, index) =>
          configMap(`c${index}`, {
            forEach: () => Array.from({ length: size }, (_, number) => number),
            template: (_, { item }) => ({ metadata: { name: `c${index}-${item}` } }),
          }),
        ),
      });
      harness.podSet('a');
      await harness.settle();
      assert.ok(harness.ready('a').startsWith('False LimitReached: '));
      assert.ok(harness.ready('a').endsWith(message));
    });
  }

  test('a cluster-scoped child of a namespaced resource is rejected', async () => {
    const harness = await harnessOf({
      children: [
        {
          ...configMap('zone'),
          kind: 'Namespace',
          template: () => ({ metadata: { name: 'zone' } }),
        },
      ],
    });
    harness.podSet('a');
    await harness.settle();
    assert.equal(
      harness.ready('a'),
      'False RenderFailed: zone: kind: "Namespace" is cluster-scoped; set "crossNamespace" to allow it',
    );
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a']);
  });

  test("a namespace that is not the resource's own is rejected", async () => {
    const harness = await harnessOf({
      children: [
        configMap('far', {
          template: () => ({ metadata: { name: 'far', namespace: 'kube-system' } }),
        }),
      ],
    });
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
    assert.match(
      harness.ready('a'),
      /RenderFailed: far: metadata.namespace: "kube-system" is not the namespace of the resource; set/,
    );
  });
});

describe('reconcile/pass names', () => {
  test('a child that waits or fails is reported by its name, where the name is known', async () => {
    const broken = configMap('broken');
    const harness = new OperatorHarness(
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
    await harness.start();
    harness.podSet('a');
    await harness.settle();
    assert.match(harness.ready('a'), /^False RenderFailed: broken "broken-map": /);
    const [child] = harness.status('a').children as { name: string }[];
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
      const { KubeError } = await import('#kube/roles.ts');
      const harness = new OperatorHarness(planOf({ children: [configMap('first')] }));
      harness.cluster.block(
        'ConfigMap',
        new KubeError(code, 'configmaps is forbidden', { status }),
      );
      await harness.start();
      assert.deepEqual(
        harness.operator.problems().map(({ what, code }) => [what, code]),
        [['children (v1/ConfigMap)', code]],
      );
      harness.podSet('a');
      await harness.settle();
      assert.equal(harness.ready('a'), ready);
      assert.equal((harness.status('a').children as { state: string }[])[0]?.state, state);
      assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
      harness.cluster.unblock('ConfigMap');
      await harness.settle();
      assert.deepEqual(harness.names('v1', 'ConfigMap'), ['first']);
      assert.match(harness.ready('a'), /^True/);
    });
  }
});
