import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  Failing,
  type HandmadeChild,
  type HandmadePlan,
  planOf,
} from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { KubeError } from '../../kube/roles.ts';

const key = 'default/a';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

async function worldOf(plan: HandmadePlan, spec: unknown = {}) {
  const world = new OperatorWorld(planOf(plan));
  await world.start();
  const podSet = world.podSet('a', spec);
  await world.settle();
  return { world, podSet };
}

function conditions(world: OperatorWorld): readonly Condition[] {
  return (world.status('a').conditions ?? []) as Condition[];
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
    const { world } = await worldOf({ children: [switched], revision: 'abc' }, { on: 'yes' });
    const { observedGeneration, definitionRevision, childCounts } = world.status('a');
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
    const { world, podSet } = await worldOf({ children: [switched] }, { on: 'no' });
    const [ready, reconciling] = conditions(world);
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'Progressing']);
    assert.deepEqual([reconciling?.type, reconciling?.status], ['Reconciling', 'True']);
    assert.equal(ready?.lastTransitionTime, '2026-01-01T00:00:00Z');
    await world.clock.advance(60_000);
    world.edit(podSet, { spec: { on: 'still not' } });
    await world.settle();
    assert.equal(conditions(world)[0]?.lastTransitionTime, '2026-01-01T00:00:00Z');
    assert.equal(conditions(world)[0]?.observedGeneration, 2);
    world.edit(podSet, { spec: { on: 'yes' } });
    await world.settle();
    assert.deepEqual(
      conditions(world).map(({ type, status, lastTransitionTime }) => [
        type,
        status,
        lastTransitionTime,
      ]),
      [['Ready', 'True', '2026-01-01T00:01:00Z']],
    );
  });

  test('a condition of another manager stays', async () => {
    const { world, podSet } = await worldOf({ children: [switched] }, { on: 'no' });
    const status = world.status('a');
    const other = { type: 'Healthy', status: 'True', reason: 'Said', message: '' };
    world.edit(podSet, { status: { ...status, conditions: [...conditions(world), other] } });
    world.edit(podSet, { spec: { on: 'yes' } });
    await world.settle();
    assert.deepEqual(
      conditions(world).map(({ type }) => type),
      ['Ready', 'Healthy'],
    );
  });

  test('what a user writes into our fields is reverted', async () => {
    const { world, podSet } = await worldOf(
      { children: [switched], status: { phase: () => 'Fine' } },
      { on: 'yes' },
    );
    const before = world.status('a');
    world.edit(podSet, { status: { ...before, phase: 'Hacked', children: [] } });
    await world.settle();
    assert.deepEqual(world.status('a'), before);
  });

  test('a mapped field that has no result any more goes', async () => {
    const { world, podSet } = await worldOf(
      { status: { phase: ({ resource }) => resource.spec.phase } },
      { phase: 'One' },
    );
    assert.equal(world.status('a').phase, 'One');
    world.edit(podSet, { spec: {} });
    await world.settle();
    assert.equal('phase' in world.status('a'), false);
  });

  test('a mapped field that fails keeps its last value and says so', async () => {
    const { world, podSet } = await worldOf(
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
    world.edit(podSet, { spec: { phase: 'Two', broken: true } });
    await world.settle();
    const { phase, other } = world.status('a');
    assert.deepEqual({ phase, other }, { phase: 'One', other: 'Two' });
    assert.equal(
      world.ready('a'),
      'False RenderFailed: status.phase: Expected a string, found "7"',
    );
    assert.ok(conditions(world).some(({ type }) => type === 'Stalled'));
  });

  test('a status that the server keeps otherwise than written is not written again', async () => {
    const { world, podSet } = await worldOf({ status: { size: () => '1000m' } });
    const { server } = world.cluster;
    const apply = server.apply.bind(server);
    server.apply = (input) =>
      apply({
        ...input,
        manifest: JSON.parse(JSON.stringify(input.manifest).replace('1000m', '1')),
      });
    world.edit(podSet, { spec: { touched: true } });
    await world.settle();
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('at most 100 children are listed, unready first, then in definition order', async () => {
    const { world } = await worldOf({
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
    const listed = world.status('a').children as { name: string; state: string }[];
    assert.equal(listed.length, 100);
    assert.deepEqual(
      listed.slice(0, 4).map(({ name, state }) => `${name} ${state}`),
      ['c7 Progressing', 'c110 Progressing', 'c0 Ready', 'c1 Ready'],
    );
    assert.deepEqual(world.status('a').childCounts, { total: 120, ready: 118, failed: 0 });
  });

  test('a status that the server rejects is reported, and looked at again later', async () => {
    const world = new OperatorWorld(planOf({}));
    await world.start();
    world.cluster.fault = ({ verb }) =>
      verb === 'status'
        ? new KubeError('rejected', 'status is invalid', { status: 422 })
        : undefined;
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.passes[0]?.end, {
      kind: 'failed',
      afterMs: 600_000,
      reason: 'ApplyFailed',
    });
    assert.equal(world.decisions.get(key)?.status, 'failed');
    assert.deepEqual(
      world.cluster.told.map(({ note }) => note),
      ['status: status is invalid'],
    );
  });

  test('a resource that was replaced meanwhile is left to its next pass', async () => {
    const world = new OperatorWorld(planOf({ children: [switched] }));
    await world.start();
    const podSet = world.podSet('a', { on: 'yes' });
    world.cluster.deliver();
    world.remove(podSet);
    world.podSet('a', { on: 'no' });
    // The cache still has the first one.
    assert.deepEqual(await world.runOne(key), { kind: 'done' });
    assert.deepEqual(world.status('a'), {});
    assert.equal(world.decisions.get(key)?.status, 'deleted');
  });
});
