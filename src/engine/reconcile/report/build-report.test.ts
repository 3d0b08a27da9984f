import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import {
  Failing,
  type HandmadeChild,
  type HandmadePlan,
  planOf,
} from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

const key = 'default/a';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

async function harnessOf(plan: HandmadePlan, spec: unknown = {}) {
  const harness = new OperatorHarness(planOf(plan));
  await harness.start();
  const podSet = harness.podSet('a', spec);
  await harness.settle();
  return { harness, podSet };
}

function conditions(harness: OperatorHarness): readonly Condition[] {
  return (harness.status('a').conditions ?? []) as Condition[];
}

/** A ConfigMap that is ready when its data say so. */
const switched: HandmadeChild = {
  id: 'switch',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  ready: (child) => (child.data as { on?: string } | undefined)?.on === 'yes',
  template: ({ resource }) => ({
    metadata: { name: 'switch' },
    data: { on: resource.spec.on as string },
  }),
};

describe('reconcile/report', () => {
  test('says what it is about: generation, revision, counts', async () => {
    const { harness } = await harnessOf({ children: [switched], revision: 'abc' }, { on: 'yes' });
    const { observedGeneration, definitionRevision, childCounts } = harness.status('a');
    assert.deepEqual(
      { observedGeneration, definitionRevision, childCounts },
      {
        observedGeneration: 1,
        definitionRevision: 'abc',
        childCounts: { total: 1, ready: 1, failed: 0 },
      },
    );
  });

  test('conditions change their time only with their status', async () => {
    const { harness, podSet } = await harnessOf({ children: [switched] }, { on: 'no' });
    const [ready, reconciling] = conditions(harness);
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'Progressing']);
    assert.deepEqual([reconciling?.type, reconciling?.status], ['Reconciling', 'True']);
    assert.equal(ready?.lastTransitionTime, '2026-01-01T00:00:00Z');
    await harness.clock.advance(60_000);
    harness.edit(podSet, { spec: { on: 'still not' } });
    await harness.settle();
    assert.equal(conditions(harness)[0]?.lastTransitionTime, '2026-01-01T00:00:00Z');
    assert.equal(conditions(harness)[0]?.observedGeneration, 2);
    harness.edit(podSet, { spec: { on: 'yes' } });
    await harness.settle();
    assert.deepEqual(
      conditions(harness).map(({ type, status, lastTransitionTime }) => [
        type,
        status,
        lastTransitionTime,
      ]),
      [['Ready', 'True', '2026-01-01T00:01:00Z']],
    );
  });

  test('a condition of another manager stays', async () => {
    const { harness, podSet } = await harnessOf({ children: [switched] }, { on: 'no' });
    const status = harness.status('a');
    const other = { type: 'Healthy', status: 'True', reason: 'Said', message: '' };
    harness.edit(podSet, { status: { ...status, conditions: [...conditions(harness), other] } });
    harness.edit(podSet, { spec: { on: 'yes' } });
    await harness.settle();
    assert.deepEqual(
      conditions(harness).map(({ type }) => type),
      ['Ready', 'Healthy'],
    );
  });

  test('what a user writes into our fields is reverted', async () => {
    const { harness, podSet } = await harnessOf(
      { children: [switched], status: { phase: () => 'Fine' } },
      { on: 'yes' },
    );
    const before = harness.status('a');
    harness.edit(podSet, { status: { ...before, phase: 'Hacked', children: [] } });
    await harness.settle();
    assert.deepEqual(harness.status('a'), before);
  });

  test('a mapped field that has no result any more is deleted', async () => {
    const { harness, podSet } = await harnessOf(
      { status: { phase: ({ resource }) => resource.spec.phase } },
      { phase: 'One' },
    );
    assert.equal(harness.status('a').phase, 'One');
    harness.edit(podSet, { spec: {} });
    await harness.settle();
    assert.equal('phase' in harness.status('a'), false);
  });

  test('a mapped field that fails keeps its last value and says so', async () => {
    const { harness, podSet } = await harnessOf(
      {
        status: {
          phase: ({ resource }) => {
            if (resource.spec.broken) throw new Failing('Expected a string, found "7"');
            return resource.spec.phase;
          },
          other: ({ resource }) => resource.spec.phase,
        },
      },
      { phase: 'One' },
    );
    harness.edit(podSet, { spec: { phase: 'Two', broken: true } });
    await harness.settle();
    const { phase, other } = harness.status('a');
    assert.deepEqual({ phase, other }, { phase: 'One', other: 'Two' });
    assert.equal(
      harness.ready('a'),
      'False RenderFailed: status.phase: Expected a string, found "7"',
    );
    assert.ok(conditions(harness).some(({ type }) => type === 'Stalled'));
  });

  test('a status that the server keeps otherwise than written is not written again', async () => {
    const { harness, podSet } = await harnessOf({ status: { size: () => '1000m' } });
    const { server } = harness.cluster;
    const apply = server.apply.bind(server);
    server.apply = (input) =>
      apply({
        ...input,
        manifest: JSON.parse(JSON.stringify(input.manifest).replace('1000m', '1')),
      });
    harness.edit(podSet, { spec: { touched: true } });
    await harness.settle();
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('at most 100 children are listed, unready first, then in definition order', async () => {
    const { harness } = await harnessOf({
      children: [
        {
          ...switched,
          forEach: () => Array.from({ length: 120 }, (_, index) => index),
          template: (_, { index }) => ({
            metadata: { name: `c${index}` },
            data: { on: index === 7 || index === 110 ? 'no' : 'yes' },
          }),
        },
      ],
    });
    const listed = harness.status('a').children as { name: string; state: string }[];
    assert.equal(listed.length, 100);
    assert.deepEqual(
      listed.slice(0, 4).map(({ name, state }) => `${name} ${state}`),
      ['c7 Progressing', 'c110 Progressing', 'c0 Ready', 'c1 Ready'],
    );
    assert.deepEqual(harness.status('a').childCounts, { total: 120, ready: 118, failed: 0 });
  });

  test('a status that the server rejects is reported, and looked at again later', async () => {
    const harness = new OperatorHarness(planOf({}));
    await harness.start();
    harness.cluster.fault = ({ verb }) =>
      verb === 'status'
        ? new KubeError('rejected', 'status is invalid', { status: 422 })
        : undefined;
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.passes[0]?.end, {
      kind: 'failed',
      afterMs: 600_000,
      reason: 'ApplyFailed',
    });
    assert.equal(harness.decisions.get(key)?.status, 'failed');
    assert.deepEqual(
      harness.cluster.reported.map(({ note }) => note),
      ['status: status is invalid'],
    );
  });

  test('a resource that was replaced meanwhile is left to its next pass', async () => {
    const harness = new OperatorHarness(planOf({ children: [switched] }));
    await harness.start();
    const podSet = harness.podSet('a', { on: 'yes' });
    harness.cluster.deliver();
    harness.remove(podSet);
    harness.podSet('a', { on: 'no' });
    // The cache still has the first one.
    assert.deepEqual(await harness.runOne(key), { kind: 'done' });
    assert.deepEqual(harness.status('a'), {});
    assert.equal(harness.decisions.get(key)?.status, 'deleted');
  });
});
