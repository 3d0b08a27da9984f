import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { type HandmadeChild, planOf } from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

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

describe('reconcile/ledger/pace follow-ups', () => {
  test('a status field that a template reads runs the resource again at once, and only once', async () => {
    const harness = new OperatorHarness(
      planOf({
        children: [mirror],
        status: { phase: () => 'Running' },
        statusPathsRead: [['status', 'phase']],
      }),
    );
    await harness.start();
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'mirror')?.data, { phase: 'Running' });
    assert.deepEqual(harness.cluster.takeWrites(), [
      'apply ConfigMap/mirror',
      'status PodSet/a',
      'apply ConfigMap/mirror',
    ]);
    assert.equal(harness.passes.length, 2);
  });

  test('a status field that nothing reads does not', async () => {
    const harness = new OperatorHarness(planOf({ status: { phase: () => 'Running' } }));
    await harness.start();
    harness.podSet('a');
    await harness.settle();
    assert.equal(harness.passes.length, 1);
  });

  test('a child that a read selects too is seen by a pass that follows', async () => {
    const harness = new OperatorHarness(
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
    await harness.start();
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'second')?.data, { maps: 'first' });
  });

  test('a resource that runs because of itself again and again backs off and says so', async () => {
    const harness = new OperatorHarness(
      planOf({
        status: {
          count: ({ resource }) =>
            ((resource.status as { count?: number } | undefined)?.count ?? 0) + 1,
        },
        statusPathsRead: [['status', 'count']],
      }),
    );
    await harness.start();
    const podSet = harness.podSet('a');
    await harness.settle();
    // The first pass and five follow-ups, each of which changed it again.
    assert.equal(harness.passes.length, 6);
    assert.deepEqual(harness.passes.at(-1)?.end, {
      kind: 'requeue',
      afterMs: 1_000,
      reason: 'Unstable',
    });
    // Whatever enqueues it meanwhile, it does not run.
    assert.deepEqual(await harness.runOne(key), harness.passes.at(-2)?.end);
    await harness.clock.advance(1_000);
    const delayed = await harness.runOne(key);
    assert.deepEqual(delayed, { kind: 'requeue', afterMs: 2_000, reason: 'Unstable' });
    assert.equal(
      harness.ready('a'),
      'False Unstable: Every reconcile changes status.count, which triggers another reconcile',
    );
    const types = (harness.status('a').conditions as { type: string }[]).map(({ type }) => type);
    assert.deepEqual(types, ['Ready', 'Reconciling']);
    // An event from outside is a new start.
    harness.edit(podSet, { spec: { touched: true } });
    harness.cluster.deliver();
    await harness.runOne(key);
    assert.match(harness.ready('a'), /^True/);
  });

  test('an error of such a resource is an error, which the queue retries', async () => {
    const harness = new OperatorHarness(
      planOf({
        children: [mirror],
        status: {
          count: ({ resource }) =>
            ((resource.status as { count?: number } | undefined)?.count ?? 0) + 1,
        },
        statusPathsRead: [['status', 'count']],
      }),
    );
    harness.cluster.fault = ({ verb }) =>
      verb === 'apply' ? new KubeError('server-error', 'no', { status: 500 }) : undefined;
    await harness.start();
    harness.podSet('a');
    await harness.settle();
    assert.equal(harness.passes.length, 6);
    assert.deepEqual(new Set(harness.passes.map(({ end }) => end.kind)), new Set(['error']));
  });
});
