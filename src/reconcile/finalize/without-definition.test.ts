import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  deletePodSet,
  deletionWorld,
  farChild,
  mapChild,
  placesOf,
  podSetOf,
  writeInventory,
} from '../../../test/support/fakes/deletion-world.ts';
import type { HandmadePlan } from '../../../test/support/fakes/handmade-plan.ts';
import { gvkOf } from '../../util/gvk.ts';

const key = 'default/a';
const far = farChild('far');

describe('reconcile/finalize: without a definition', () => {
  test('labels and inventory are enough', async () => {
    const { world, plan } = await deletionWorld({ children: [far] });
    await world.breakDefinition(plan);
    await world.settle();
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), []);
  });

  test('a kind that the server does not serve any more has nothing to look for', async () => {
    const { world, plan } = await deletionWorld({ children: [far] });
    const former = [gvkOf('gone.example.com/v1', 'Gone')];
    await world.breakDefinition(plan, { former });
    await writeInventory(world, ['ConfigMap other/far', 'gone.example.com/Gone default/a']);
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
  });

  test('an orphan stays, and elements of an ordered child go from the last', async () => {
    const { world, plan } = await deletionWorld({
      children: [
        mapChild('kept', { deletionPolicy: 'Orphan' }),
        mapChild('steps', {
          ordered: true,
          forEach: () => ['b', 'a'],
          template: (_, { item }) => ({ metadata: { name: `step-${item}` } }),
        }),
      ],
    });
    await world.breakDefinition(plan);
    await deletePodSet(world);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/kept']);
    const deleted = world.cluster.takeWrites().filter((write) => write.startsWith('delete'));
    assert.deepEqual(deleted, ['delete ConfigMap/step-a', 'delete ConfigMap/step-b']);
  });

  for (const [what, plan] of [
    [
      'that its definition must let go',
      { children: [mapChild('guarded', { deleteWhen: () => true })] },
    ],
    ['before which something is to be made', { children: [far], onDelete: {} }],
  ] as const) {
    test(`what ${what} waits for it`, async () => {
      const { world, plan: compiled } = await deletionWorld(plan);
      await world.breakDefinition(compiled);
      await deletePodSet(world);
      assert.match(world.ready('a'), /^False DefinitionBroken: /);
      assert.equal(placesOf(world, 'ConfigMap').length, 1);
      const writes = world.cluster.takeWrites();
      assert.deepEqual(writes, ['status PodSet/a']);
      await world.restart(compiled);
      await world.settle();
      assert.equal(podSetOf(world), undefined);
    });
  }

  test('an order that was begun waits for its definition, too', async () => {
    const plan: HandmadePlan = {
      children: [mapChild('base'), mapChild('dependent', { tier: 1 })],
      onDelete: {},
    };
    const { world, plan: compiled } = await deletionWorld(plan);
    const held = world.get('v1', 'ConfigMap', 'dependent');
    assert.ok(held);
    world.edit(held, { metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
    const marked = podSetOf(world);
    assert.ok(marked);
    const annotations = {
      ...marked.metadata.annotations,
      'on-delete.homeostat.dev/podset': 'done',
    };
    world.edit(marked, { metadata: { ...marked.metadata, annotations } });
    await world.breakDefinition(compiled);
    await deletePodSet(world);
    assert.match(world.ready('a'), /^False DefinitionBroken: /);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/base', 'default/dependent']);
  });

  test('onDelete can be done without', async () => {
    const { world, plan } = await deletionWorld({ children: [far], onDelete: {} });
    const before = podSetOf(world);
    assert.ok(before);
    const annotations = { ...before.metadata.annotations, 'homeostat.dev/skip-on-delete': 'true' };
    world.edit(before, { metadata: { ...before.metadata, annotations } });
    await world.breakDefinition(plan);
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
  });
});
