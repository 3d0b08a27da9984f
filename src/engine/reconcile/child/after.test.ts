import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type HandmadeChild,
  planOf,
  type View,
  Waiting,
} from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { deploymentChild } from '../../../../test/support/fakes/podset-plan.ts';

/** A ConfigMap that comes after the Deployment, with `spec.text` in it. */
const after: HandmadeChild = {
  id: 'config',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  tier: 1,
  after: ['deployment'],
  template: ({ resource }) => ({
    metadata: { name: 'config' },
    data: { text: resource.spec.text as string },
  }),
};

async function harnessOf(children: readonly HandmadeChild[] = [deploymentChild, after]) {
  const harness = new OperatorHarness(planOf({ children }));
  await harness.start();
  const podSet = harness.podSet('a', { size: 1, text: 'one' });
  await harness.settle();
  return { harness, podSet };
}

/** What the deployment controller reports. */
function report(harness: OperatorHarness, ready: boolean): void {
  const deployment = harness.get('apps/v1', 'Deployment', 'a')!;
  const replicas = ready ? 1 : 0;
  harness.edit(deployment, {
    status: {
      observedGeneration: deployment.metadata.generation,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: replicas,
      availableReplicas: replicas,
      conditions: [
        { type: 'Available', status: ready ? 'True' : 'False' },
        { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
      ],
    },
  });
}

/** Its child was made, and what it comes after is not ready any more. */
async function heldHarness() {
  const made = await harnessOf();
  report(made.harness, true);
  await made.harness.settle();
  report(made.harness, false);
  await made.harness.settle();
  return made;
}

function textOf(harness: OperatorHarness): unknown {
  return (harness.get('v1', 'ConfigMap', 'config')?.data as { text: string } | undefined)?.text;
}

describe('reconcile/child after', () => {
  test('a child is made when what it comes after is ready, and the wait is reported', async () => {
    const { harness } = await harnessOf();
    assert.equal(textOf(harness), undefined);
    assert.deepEqual(harness.decisions.get('default/a')?.children[1]?.verdict, {
      kind: 'waiting',
      on: ['children.deployment to be ready'],
    });
    report(harness, true);
    await harness.settle();
    assert.equal(textOf(harness), 'one');
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
  });

  test('a change of intent is held, and released when that is ready', async () => {
    const { harness, podSet } = await heldHarness();
    harness.edit(podSet, { spec: { size: 1, text: 'two' } });
    await harness.settle();
    assert.equal(textOf(harness), 'one');
    report(harness, true);
    await harness.settle();
    assert.equal(textOf(harness), 'two');
  });

  test('drift of what was applied is repaired meanwhile', async () => {
    const { harness } = await heldHarness();
    harness.edit(harness.get('v1', 'ConfigMap', 'config')!, { data: { text: 'drift' } });
    await harness.settle();
    assert.equal(textOf(harness), 'one');
  });

  test('drift is repaired to what was applied last, also when the intent has changed since', async () => {
    const { harness, podSet } = await heldHarness();
    harness.edit(podSet, { spec: { size: 1, text: 'two' } });
    await harness.settle();
    harness.edit(harness.get('v1', 'ConfigMap', 'config')!, { data: { text: 'drift' } });
    await harness.settle();
    assert.equal(textOf(harness), 'one');
    assert.match(
      harness.ready('a'),
      /^False Waiting: config "config": Waiting for children.deployment/,
    );
    report(harness, true);
    await harness.settle();
    assert.equal(textOf(harness), 'two');
  });

  test('nothing is deleted because it is held', async () => {
    const { harness } = await heldHarness();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['config']);
  });

  const waiting = [
    ['a child', {}],
    ['the elements of a list', { forEach: (view: View) => [view.read('settings') && 'x'] }],
  ] as const;
  for (const [what, changes] of waiting) {
    test(`drift of ${what} that waits for a read is repaired too`, async () => {
      const reader: HandmadeChild = {
        id: 'reader',
        apiVersion: 'v1',
        kind: 'ConfigMap',
        readsUsed: ['settings'],
        template: (view) => ({
          metadata: { name: 'reader' },
          data: view.read('settings')?.data as Record<string, string>,
        }),
        ...changes,
      };
      const settings = { id: 'settings', apiVersion: 'v1', kind: 'Secret', name: () => 's' };
      const harness = new OperatorHarness(planOf({ reads: [settings], children: [reader] }));
      await harness.start();
      const metadata = { name: 's', namespace: 'default' };
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { text: 'one' } };
      harness.cluster.server.put(secret);
      harness.podSet('a');
      await harness.settle();
      harness.remove(secret);
      await harness.settle();
      assert.match(harness.ready('a'), /^False Waiting/);
      harness.edit(harness.get('v1', 'ConfigMap', 'reader')!, { data: { text: 'drift' } });
      await harness.settle();
      assert.deepEqual(harness.get('v1', 'ConfigMap', 'reader')?.data, { text: 'one' });
      assert.match(harness.ready('a'), /^False Waiting/);
      harness.cluster.takeWrites();
      await harness.runOne('default/a');
      assert.deepEqual(harness.cluster.takeWrites(), []);
    });
  }

  test('a child that is not wanted holds nothing', async () => {
    const { harness } = await harnessOf([{ ...deploymentChild, when: () => false }, after]);
    assert.equal(textOf(harness), 'one');
  });

  describe('the same element', () => {
    const list = (
      id: string,
      names: string,
      changes: Partial<HandmadeChild> = {},
    ): HandmadeChild => ({
      id,
      apiVersion: 'v1',
      kind: 'ConfigMap',
      forEach: ({ resource }) => resource.spec[names] as readonly unknown[],
      ready: ({ data }) => (data as { ready?: string }).ready === 'yes',
      template: ({ resource }, { item }) => ({
        metadata: { name: `${id}-${(item as { name?: string }).name ?? item}` },
        data: { text: resource.spec.text as string },
      }),
      ...changes,
    });
    const leader = list('leader', 'leaders');
    const worker = list('worker', 'workers', { tier: 1, after: ['leader'], afterSame: ['leader'] });

    async function groupsOf(
      spec: { readonly leaders: readonly unknown[]; readonly workers: readonly unknown[] },
      children: readonly HandmadeChild[] = [leader, worker],
    ) {
      const harness = new OperatorHarness(planOf({ children }));
      await harness.start();
      const podSet = harness.podSet('a', { text: 'one', ...spec });
      await harness.settle();
      const readyLeader = async (name: string, ready = 'yes') => {
        harness.edit(harness.get('v1', 'ConfigMap', name)!, { data: { ready } });
        await harness.settle();
      };
      const workers = () =>
        harness.names('v1', 'ConfigMap').filter((name) => name.startsWith('worker'));
      const waits = () =>
        harness.decisions.get('default/a')?.children.map(({ verdict }) => verdict) ?? [];
      return { harness, podSet, readyLeader, workers, waits };
    }

    test('each element waits for that of its key, and for no other', async () => {
      const groups = { leaders: ['a', 'b'], workers: ['b', 'a'] };
      const { readyLeader, workers, waits } = await groupsOf(groups);
      assert.deepEqual(workers(), []);
      assert.deepEqual(waits().slice(2), [
        { kind: 'waiting', on: ['ConfigMap "leader-b" to be ready'] },
        { kind: 'waiting', on: ['ConfigMap "leader-a" to be ready'] },
      ]);
      await readyLeader('leader-b');
      assert.deepEqual(workers(), ['worker-b']);
      await readyLeader('leader-a');
      assert.deepEqual(workers(), ['worker-a', 'worker-b']);
    });

    test('a map is found by its name, a map without one by all of it', async () => {
      const { readyLeader, workers } = await groupsOf({
        leaders: ['a', { name: 'b', size: 1 }],
        workers: [{ name: 'a', size: 2 }, { name: 'b' }],
      });
      await readyLeader('leader-a');
      assert.deepEqual(workers(), ['worker-a']);
      await readyLeader('leader-b');
      assert.deepEqual(workers(), ['worker-a', 'worker-b']);
    });

    test('an element without one of its key waits, and keeps what it has', async () => {
      const { harness, podSet, readyLeader, workers, waits } = await groupsOf({
        leaders: ['a'],
        workers: ['a', 'c'],
      });
      await readyLeader('leader-a');
      assert.deepEqual(workers(), ['worker-a']);
      assert.deepEqual(waits().at(-1), {
        kind: 'waiting',
        on: ['children.leader to have an element with the same key'],
      });
      harness.edit(podSet, { spec: { text: 'two', leaders: [], workers: ['a'] } });
      await harness.settle();
      assert.deepEqual(workers(), ['worker-a']);
      assert.deepEqual(harness.get('v1', 'ConfigMap', 'worker-a')?.data, { text: 'one' });
    });

    test('a change waits, and nothing of the child is deleted while one element waits', async () => {
      const groups = { leaders: ['a', 'b'], workers: ['a', 'b'] };
      const { harness, podSet, readyLeader, workers } = await groupsOf(groups);
      await readyLeader('leader-a');
      await readyLeader('leader-b');
      await readyLeader('leader-b', 'no');
      harness.edit(podSet, { spec: { text: 'two', leaders: ['b'], workers: ['b'] } });
      await harness.settle();
      assert.deepEqual(workers(), ['worker-a', 'worker-b']);
      assert.deepEqual(harness.get('v1', 'ConfigMap', 'worker-b')?.data, { text: 'one' });
      await readyLeader('leader-b');
      assert.deepEqual(workers(), ['worker-b']);
      assert.deepEqual(harness.get('v1', 'ConfigMap', 'worker-b')?.data, { text: 'two' });
    });

    test('a child that is not wanted holds nothing, and one whose list is unknown holds all', async () => {
      const groups = { leaders: ['a'], workers: ['a', 'b'] };
      const unwanted = await groupsOf(groups, [{ ...leader, when: () => false }, worker]);
      assert.deepEqual(unwanted.workers(), ['worker-a', 'worker-b']);
      const unknown = list('leader', 'leaders', {
        forEach: () => {
          throw new Waiting('reads.groups');
        },
      });
      const { workers, waits } = await groupsOf(groups, [unknown, worker]);
      assert.deepEqual(workers(), []);
      assert.deepEqual(waits().at(-1), { kind: 'waiting', on: ['children.leader to be ready'] });
    });

    test('other children in `after` hold all elements', async () => {
      const { harness, readyLeader, workers } = await groupsOf({ leaders: ['a'], workers: ['a'] }, [
        deploymentChild,
        leader,
        { ...worker, after: ['deployment', 'leader'] },
      ]);
      await readyLeader('leader-a');
      assert.deepEqual(workers(), []);
      report(harness, true);
      await harness.settle();
      assert.deepEqual(workers(), ['worker-a']);
    });
  });
});
