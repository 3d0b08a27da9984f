import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  Failing,
  type HandmadeChild,
  planOf,
  Waiting,
} from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

/** A ConfigMap for each of `spec.names`, with `spec.text`; those in `spec.open` may be changed. */
const gated = (changes: Partial<HandmadeChild> = {}): HandmadeChild => ({
  id: 'config',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  forEach: ({ resource }) => resource.spec.names as readonly string[],
  gate: ({ resource }, { item }) => (resource.spec.open as readonly unknown[]).includes(item),
  template: ({ resource }, { item }) => ({
    metadata: { name: item as string },
    data: { text: resource.spec.text as string },
  }),
  ...changes,
});

async function harnessOf(changes: Partial<HandmadeChild> = {}) {
  const harness = new OperatorHarness(planOf({ children: [gated(changes)] }));
  await harness.start();
  const podSet = harness.podSet('a', { names: ['x', 'y'], open: [], text: 'one' });
  await harness.settle();
  const want = async (spec: {
    names: readonly string[];
    open: readonly string[];
    text: string;
  }) => {
    harness.edit(podSet, { spec });
    await harness.settle();
  };
  const texts = () =>
    harness
      .names('v1', 'ConfigMap')
      .map((name) => {
        const { text } = harness.get('v1', 'ConfigMap', name)!.data as { text: string };
        return `${name}=${text}`;
      })
      .join(' ');
  return { harness, want, texts };
}

describe('reconcile/child gate', () => {
  test('a missing object is created, and an existing one changed only while its gate is open', async () => {
    const { harness, want, texts } = await harnessOf();
    assert.equal(texts(), 'x=one y=one');
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
    await want({ names: ['x', 'y', 'z'], open: [], text: 'two' });
    assert.equal(texts(), 'x=one y=one z=two');
    assert.match(harness.ready('a'), /Not changed: waiting for "gate" to be true/);
    await want({ names: ['x', 'y', 'z'], open: ['y'], text: 'two' });
    assert.equal(texts(), 'x=one y=two z=two');
    await want({ names: ['x', 'y', 'z'], open: ['x'], text: 'two' });
    assert.equal(texts(), 'x=two y=two z=two');
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
  });

  test('drift is reverted meanwhile, and nothing is sent otherwise', async () => {
    const { harness, want, texts } = await harnessOf();
    await want({ names: ['x', 'y'], open: [], text: 'two' });
    harness.edit(harness.get('v1', 'ConfigMap', 'x')!, { data: { text: 'drift' } });
    await harness.settle();
    assert.equal(texts(), 'x=one y=one');
    harness.cluster.takeWrites();
    await harness.runOne('default/a');
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('an element that leaves the list is deleted', async () => {
    const { want, texts } = await harnessOf();
    await want({ names: ['y'], open: [], text: 'two' });
    assert.equal(texts(), 'y=one');
  });

  test('a gate that waits or fails keeps the object', async () => {
    const results = [
      [new Waiting('reads.window'), 'Waiting for reads.window'],
      [new Failing('broken'), 'broken'],
    ] as const;
    for (const [thrown, message] of results) {
      const { harness, want, texts } = await harnessOf({
        gate: () => {
          throw thrown;
        },
      });
      await want({ names: ['x', 'y'], open: [], text: 'two' });
      assert.equal(texts(), 'x=one y=one');
      assert.ok(harness.ready('a').includes(message), harness.ready('a'));
    }
  });

  test('a rolling update passes by an element whose gate is closed', async () => {
    const { want, texts } = await harnessOf({
      updateStrategy: {
        type: 'Apply',
        rollingUpdate: { maxUnavailable: 1, partition: 0, order: 'Ascending' },
      },
    });
    await want({ names: ['x', 'y'], open: ['y'], text: 'two' });
    assert.equal(texts(), 'x=one y=two');
  });

  test('an object is recreated only while its gate is open', async () => {
    const { harness, want, texts } = await harnessOf({ updateStrategy: { type: 'Recreate' } });
    const { uid } = harness.get('v1', 'ConfigMap', 'x')!.metadata;
    await want({ names: ['x', 'y'], open: ['y'], text: 'two' });
    assert.equal(texts(), 'x=one y=two');
    assert.equal(harness.get('v1', 'ConfigMap', 'x')?.metadata.uid, uid);
  });
});
