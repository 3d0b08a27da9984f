import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import {
  deletePodSet,
  deletionHarness,
  farChild,
  mapChild,
  placesOf,
  podSetOf,
  writeInventory,
} from '../../../../test/support/fakes/deletion-harness.ts';
import type { HandmadePlan } from '../../../../test/support/fakes/handmade-plan.ts';

const key = 'default/a';
const far = farChild('far');

describe('reconcile/finalize: without a definition', () => {
  test('labels and inventory are enough', async () => {
    const { harness, plan } = await deletionHarness({ children: [far] });
    await harness.breakDefinition(plan);
    await harness.settle();
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
    await deletePodSet(harness);
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
  });

  test('a kind that the server does not serve any more has nothing to look for', async () => {
    const { harness, plan } = await deletionHarness({ children: [far] });
    const former = [gvkOf('gone.example.com/v1', 'Gone')];
    await harness.breakDefinition(plan, { former });
    await writeInventory(harness, ['ConfigMap other/far', 'gone.example.com/Gone default/a']);
    await deletePodSet(harness);
    assert.equal(podSetOf(harness), undefined);
  });

  test('an orphan stays, and elements of an ordered child go from the last', async () => {
    const { harness, plan } = await deletionHarness({
      children: [
        mapChild('kept', { deletionPolicy: 'Orphan' }),
        mapChild('steps', {
          ordered: true,
          forEach: () => ['b', 'a'],
          template: (_, { item }) => ({ metadata: { name: `step-${item}` } }),
        }),
      ],
    });
    await harness.breakDefinition(plan);
    await deletePodSet(harness);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/kept']);
    const deleted = harness.cluster.takeWrites().filter((write) => write.startsWith('delete'));
    assert.deepEqual(deleted, ['delete ConfigMap/step-a', 'delete ConfigMap/step-b']);
  });

  for (const [what, plan] of [
    [
      'that its definition must release',
      { children: [mapChild('guarded', { deleteWhen: () => true })] },
    ],
    ['before which something is to be made', { children: [far], onDelete: {} }],
  ] as const) {
    test(`what ${what} waits for it`, async () => {
      const { harness, plan: compiled } = await deletionHarness(plan);
      await harness.breakDefinition(compiled);
      await deletePodSet(harness);
      assert.match(harness.ready('a'), /^False DefinitionBroken: /);
      assert.equal(placesOf(harness, 'ConfigMap').length, 1);
      const writes = harness.cluster.takeWrites();
      assert.deepEqual(writes, ['status PodSet/a']);
      await harness.restart(compiled);
      await harness.settle();
      assert.equal(podSetOf(harness), undefined);
    });
  }

  test('an order that was begun waits for its definition, too', async () => {
    const plan: HandmadePlan = {
      children: [mapChild('base'), mapChild('dependent', { tier: 1 })],
      onDelete: {},
    };
    const { harness, plan: compiled } = await deletionHarness(plan);
    const held = harness.get('v1', 'ConfigMap', 'dependent');
    assert.ok(held);
    harness.edit(held, { metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
    const marked = podSetOf(harness);
    assert.ok(marked);
    const annotations = {
      ...marked.metadata.annotations,
      'on-delete.homeostat.dev/podset': 'done',
    };
    harness.edit(marked, { metadata: { ...marked.metadata, annotations } });
    await harness.breakDefinition(compiled);
    await deletePodSet(harness);
    assert.match(harness.ready('a'), /^False DefinitionBroken: /);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/base', 'default/dependent']);
  });

  test('onDelete can be done without', async () => {
    const { harness, plan } = await deletionHarness({ children: [far], onDelete: {} });
    const before = podSetOf(harness);
    assert.ok(before);
    const annotations = { ...before.metadata.annotations, 'homeostat.dev/skip-on-delete': 'true' };
    harness.edit(before, { metadata: { ...before.metadata, annotations } });
    await harness.breakDefinition(plan);
    await deletePodSet(harness);
    assert.equal(podSetOf(harness), undefined);
  });
});
