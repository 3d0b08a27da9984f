import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';
import { KubeError } from '../../kube/roles.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

async function worldOf(body: string): Promise<OperatorWorld> {
  const world = new OperatorWorld(planOfPodSet(body));
  await world.start();
  return world;
}

function conditionOf(world: OperatorWorld, type: string): Condition | undefined {
  const conditions = world.status('one').conditions as readonly Condition[] | undefined;
  return conditions?.find((condition) => condition.type === type);
}

function shown(world: OperatorWorld, type: string): string {
  const condition = conditionOf(world, type);
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
}

const phase = `
  status:
    phase: '\${ spec.done ? "Complete" : "Running" }'
`;

describe('reconcile/report conditions', () => {
  for (const [status, expected] of [
    ['true', 'True Available: '],
    ['${ spec.size > 1 }', 'True Available: '],
    ['${ spec.size > 9 }', 'False NotAvailable: '],
    ['${ "Unknown" }', 'Unknown Unknown: '],
    ['"False"', 'False NotAvailable: '],
    ['${ spec.nothing }', 'Unknown Unknown: '],
    [
      '${ spec.size }',
      'Unknown RenderFailed: conditions.Available.status: Expected a boolean, or one of "True", "False" and "Unknown"',
    ],
  ] as const) {
    test(`status: ${status} gives ${expected}`, async () => {
      const world = await worldOf(`
  conditions:
    - type: Available
      status: ${status}
`);
      world.podSet('one', { size: 3 });
      await world.settle();
      assert.equal(shown(world, 'Available'), expected);
    });
  }

  test('reason and message may be expressions, and see the new status', async () => {
    const world = await worldOf(`${phase}
  conditions:
    - type: example.com/Done
      status: \${ status.phase = "Complete" }
      reason: \${ status.phase }
      message: phase is \${ status.phase }, was \${ $previous.status.phase ?? "nothing" }
`);
    world.podSet('one', { done: true });
    world.cluster.deliver();
    await world.runOne('default/one');
    assert.equal(shown(world, 'example.com/Done'), 'True Complete: phase is Complete, was nothing');
    await world.settle();
    // It compares with the status of before, and so runs again until both agree.
    assert.equal(
      shown(world, 'example.com/Done'),
      'True Complete: phase is Complete, was Complete',
    );
  });

  test('a reason that is none, and text with a missing part, are reported', async () => {
    const world = await worldOf(`
  conditions:
    - { type: A, status: true, reason: "\${ spec.reason }" }
    - { type: B, status: true, message: "x \${ spec.nothing }" }
`);
    world.podSet('one', { reason: 'not a word' });
    await world.settle();
    assert.match(shown(world, 'A'), /^Unknown RenderFailed: .*reason in CamelCase/);
    assert.match(shown(world, 'B'), /^Unknown RenderFailed: .*Missing value "spec.nothing"/);
    assert.match(world.ready('one'), /^False RenderFailed: /);
  });

  test('the time of the last transition changes with the status only, and a pass that changes nothing writes nothing', async () => {
    const world = await worldOf(`
  conditions:
    - { type: Big, status: "\${ spec.size > 1 }", message: "size \${ spec.size }" }
`);
    const one = world.podSet('one', { size: 2 });
    await world.settle();
    const first = conditionOf(world, 'Big');
    await world.clock.advance(60_000);
    world.edit(one, { spec: { size: 3 } });
    await world.settle();
    assert.equal(shown(world, 'Big'), 'True Big: size 3');
    assert.equal(conditionOf(world, 'Big')?.lastTransitionTime, first?.lastTransitionTime);
    world.edit(one, { spec: { size: 0 } });
    await world.settle();
    assert.notEqual(conditionOf(world, 'Big')?.lastTransitionTime, first?.lastTransitionTime);
    world.cluster.takeWrites();
    await world.runOne('default/one');
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('a condition that another manager changes is reverted, and one that is not ours is left', async () => {
    const world = await worldOf(`
  conditions:
    - { type: Big, status: true }
`);
    const one = world.podSet('one');
    await world.settle();
    const conditions = (world.status('one').conditions as readonly Condition[]).map((condition) =>
      condition.type === 'Big' ? { ...condition, status: 'False' } : condition,
    );
    const theirs = { ...conditions[0], type: 'Theirs', status: 'True' };
    world.edit(one, { status: { ...world.status('one'), conditions: [...conditions, theirs] } });
    await world.settle();
    assert.equal(conditionOf(world, 'Big')?.status, 'True');
    assert.equal(conditionOf(world, 'Theirs')?.status, 'True');
  });

  test('they stay as they are while an informer that they may read is not usable', async () => {
    const body = `
  reads: [{ id: pods, apiVersion: v1, kind: Pod, selector: all }]
  conditions:
    - { type: HasPods, status: "\${ $count(reads.pods) > 0 }" }
`;
    const world = await worldOf(body);
    world.podSet('one');
    world.cluster.server.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'default' },
    });
    await world.settle();
    assert.equal(conditionOf(world, 'HasPods')?.status, 'True');
    world.cluster.block('Pod', new KubeError('forbidden', 'no', { status: 403 }));
    await world.restart(planOfPodSet(body));
    await world.settle();
    assert.equal(conditionOf(world, 'HasPods')?.status, 'True');
  });
});

describe('reconcile/report time', () => {
  test('$now() is the same wherever a pass asks for it', async () => {
    const world = await worldOf(`
  status: { at: "\${ $now() }" }
  conditions: [{ type: Now, status: true, message: "\${ $now() }" }]
  events: [{ when: true, reason: Now, message: "\${ $now() }" }]
`);
    world.podSet('one');
    world.cluster.deliver();
    // Time passes while the pass is under way.
    world.cluster.pace = () => world.clock.advance(5);
    await world.runOne('default/one');
    const { at } = world.status('one');
    assert.equal(conditionOf(world, 'Now')?.message, at);
    assert.equal(world.cluster.told.find(({ reason }) => reason === 'Now')?.note, at);
  });

  test('a pass that wrote a status only is no news for the log', async () => {
    const world = await worldOf('  status: { size: "${ spec.size }" }\n');
    world.podSet('one', { size: 1 });
    await world.settle();
    const levels = world.log.filter(({ msg }) => msg === 'Reconciled').map(({ level }) => level);
    assert.deepEqual([...new Set(levels)], ['debug']);
  });
});

describe('reconcile/report events', () => {
  const events = `${phase}
  events:
    - when: \${ status.phase = "Complete" and $not($previous.status.phase = "Complete") }
      reason: Completed
      message: all \${ spec.size } done
    - when: \${ spec.size > 100 }
      type: Warning
      reason: \${ "TooMany" }
`;

  const told = (world: OperatorWorld) =>
    world.cluster.told
      .filter(({ reason }) => reason !== 'ApplyFailed')
      .map(({ type, reason, note }) => `${type} ${reason}: ${note}`);

  test('are reported in the pass in which `when` is true, and not again', async () => {
    const world = await worldOf(events);
    const one = world.podSet('one', { size: 3, done: false });
    await world.settle();
    assert.deepEqual(told(world), []);
    world.edit(one, { spec: { size: 3, done: true } });
    await world.settle();
    assert.deepEqual(told(world), ['Normal Completed: all 3 done']);
    world.edit(one, { spec: { size: 4, done: true } });
    await world.settle();
    assert.equal(told(world).length, 1);
  });

  test('may be warnings without a message', async () => {
    const world = await worldOf(events);
    world.podSet('one', { size: 101 });
    await world.settle();
    assert.deepEqual(told(world), ['Warning TooMany: ']);
  });

  test('are reported once, when the status that they report is written', async () => {
    const world = await worldOf(events);
    world.podSet('one', { size: 1, done: true });
    world.cluster.fault = ({ verb }) =>
      verb === 'status' ? new KubeError('unavailable', 'no', { status: 503 }) : undefined;
    world.cluster.deliver();
    await world.runOne('default/one');
    assert.deepEqual(told(world), []);
    world.cluster.fault = () => undefined;
    await world.runOne('default/one');
    await world.settle();
    assert.deepEqual(told(world), ['Normal Completed: all 1 done']);
  });

  test('a `when` without a result is an error that Ready reports', async () => {
    const world = await worldOf(`
  events:
    - { when: "\${ spec.nothing }", reason: Never }
`);
    world.podSet('one');
    await world.settle();
    assert.equal(
      world.ready('one'),
      'False RenderFailed: events[0].when: Missing value "spec.nothing"',
    );
  });
});

describe('reconcile/report requeueAfter', () => {
  test('runs the resource again after the duration, as often as it says so', async () => {
    const world = await worldOf(`
  requeueAfter: '\${ spec.cooling ? "10s" }'
`);
    const one = world.podSet('one', { cooling: true });
    await world.settle();
    const before = world.passes.length;
    await world.clock.advance(10_000);
    await world.settle();
    assert.equal(world.passes.length, before + 1);
    await world.clock.advance(10_000);
    await world.settle();
    assert.equal(world.passes.length, before + 2);
    world.edit(one, { spec: { cooling: false } });
    await world.settle();
    const last = world.passes.length;
    await world.clock.advance(60_000);
    await world.settle();
    assert.equal(world.passes.length, last);
  });

  test('what is no duration is reported', async () => {
    const world = await worldOf('  requeueAfter: "${ spec.wait }"\n');
    world.podSet('one', { wait: 'soon' });
    await world.settle();
    assert.equal(
      world.ready('one'),
      'False RenderFailed: requeueAfter: Expected a duration such as "30s" or "5m"',
    );
  });

  test('less than a second counts as one', async () => {
    const world = await worldOf('  requeueAfter: 1ms\n');
    world.podSet('one');
    await world.settle();
    const before = world.passes.length;
    await world.clock.advance(999);
    await world.settle();
    assert.equal(world.passes.length, before);
    await world.clock.advance(1);
    await world.settle();
    assert.equal(world.passes.length, before + 1);
  });
});
