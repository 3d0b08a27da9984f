import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type HandmadeChild, planOf } from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';

const key = 'default/a';

/** A ConfigMap that shows `status.phase`. */
const mirror: HandmadeChild = {
  id: 'mirror',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  template: ({ resource }) => ({
    metadata: { name: 'mirror' },
    data: { phase: String((resource.status as { phase?: unknown } | undefined)?.phase) },
  }),
};

describe('reconcile/attempt/pace follow-ups', () => {
  test('a status field that a template reads runs the resource again at once, and only once', async () => {
    const world = new OperatorWorld(
      planOf({
        children: [mirror],
        status: { phase: () => 'Running' },
        statusPathsRead: [['status', 'phase']],
      }),
    );
    await world.start();
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'mirror')?.data, { phase: 'Running' });
    assert.deepEqual(world.cluster.takeWrites(), [
      'apply ConfigMap/mirror',
      'status PodSet/a',
      'apply ConfigMap/mirror',
    ]);
    assert.equal(world.passes.length, 2);
  });

  test('a status field that nothing reads does not', async () => {
    const world = new OperatorWorld(planOf({ status: { phase: () => 'Running' } }));
    await world.start();
    world.podSet('a');
    await world.settle();
    assert.equal(world.passes.length, 1);
  });

  test('a child that a read selects too is seen by a pass that follows', async () => {
    const world = new OperatorWorld(
      planOf({
        reads: [
          {
            id: 'maps',
            apiVersion: 'v1',
            kind: 'ConfigMap',
            labels: () => ({ show: 'yes' }),
            watchSelector: 'show=yes',
            pathsRead: [['metadata', 'name']],
          },
        ],
        children: [
          {
            id: 'first',
            apiVersion: 'v1',
            kind: 'ConfigMap',
            template: () => ({ metadata: { name: 'first', labels: { show: 'yes' } } }),
          },
          {
            id: 'second',
            apiVersion: 'v1',
            kind: 'ConfigMap',
            template: (view) => ({
              metadata: { name: 'second' },
              data: {
                maps: view
                  .list('maps')
                  .map(({ metadata }) => metadata.name)
                  .join(),
              },
            }),
          },
        ],
      }),
    );
    await world.start();
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'second')?.data, { maps: 'first' });
  });

  test('a resource that runs because of itself again and again backs off and says so', async () => {
    const world = new OperatorWorld(
      planOf({
        status: {
          count: ({ resource }) =>
            ((resource.status as { count?: number } | undefined)?.count ?? 0) + 1,
        },
        statusPathsRead: [['status', 'count']],
      }),
    );
    await world.start();
    const podSet = world.podSet('a');
    await world.settle();
    // The first pass and five follow-ups, each of which changed it again.
    assert.equal(world.passes.length, 6);
    assert.deepEqual(world.passes.at(-1)?.end, {
      kind: 'requeue',
      afterMs: 1_000,
      reason: 'Unstable',
    });
    // Whoever wakes it meanwhile, it rests.
    assert.deepEqual(await world.runOne(key), world.passes.at(-2)?.end);
    await world.clock.advance(1_000);
    const delayed = await world.runOne(key);
    assert.deepEqual(delayed, { kind: 'requeue', afterMs: 2_000, reason: 'Unstable' });
    assert.equal(
      world.ready('a'),
      'False Unstable: Every reconcile changes status.count, which triggers another reconcile',
    );
    const types = (world.status('a').conditions as { type: string }[]).map(({ type }) => type);
    assert.deepEqual(types, ['Ready', 'Reconciling']);
    // An event from outside is a new start.
    world.edit(podSet, { spec: { touched: true } });
    world.cluster.deliver();
    await world.runOne(key);
    assert.match(world.ready('a'), /^True/);
  });
});
