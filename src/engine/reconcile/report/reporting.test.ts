import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

async function harnessOf(body: string): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOfPodSet(body));
  await harness.start();
  return harness;
}

function conditionOf(harness: OperatorHarness, type: string): Condition | undefined {
  const conditions = harness.status('one').conditions as readonly Condition[] | undefined;
  return conditions?.find((condition) => condition.type === type);
}

function shown(harness: OperatorHarness, type: string): string {
  const condition = conditionOf(harness, type);
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
      const harness = await harnessOf(`
  conditions:
    - type: Available
      status: ${status}
`);
      harness.podSet('one', { size: 3 });
      await harness.settle();
      assert.equal(shown(harness, 'Available'), expected);
    });
  }

  test('reason and message may be expressions, and see the new status', async () => {
    const harness = await harnessOf(`${phase}
  conditions:
    - type: example.com/Done
      status: \${ status.phase = "Complete" }
      reason: \${ status.phase }
      message: phase is \${ status.phase }, was \${ $previous.status.phase ?? "nothing" }
`);
    harness.podSet('one', { done: true });
    harness.cluster.deliver();
    await harness.runOne('default/one');
    assert.equal(
      shown(harness, 'example.com/Done'),
      'True Complete: phase is Complete, was nothing',
    );
    await harness.settle();
    // It compares with the previous status, and so runs again until both agree.
    assert.equal(
      shown(harness, 'example.com/Done'),
      'True Complete: phase is Complete, was Complete',
    );
  });

  test('a reason that is none, and text with a missing part, are reported', async () => {
    const harness = await harnessOf(`
  conditions:
    - { type: A, status: true, reason: "\${ spec.reason }" }
    - { type: B, status: true, message: "x \${ spec.nothing }" }
`);
    harness.podSet('one', { reason: 'not a word' });
    await harness.settle();
    assert.match(shown(harness, 'A'), /^Unknown RenderFailed: .*reason in CamelCase/);
    assert.match(shown(harness, 'B'), /^Unknown RenderFailed: .*Missing value "spec.nothing"/);
    assert.match(harness.ready('one'), /^False RenderFailed: /);
  });

  test('the time of the last transition changes with the status only, and a pass that changes nothing writes nothing', async () => {
    const harness = await harnessOf(`
  conditions:
    - { type: Big, status: "\${ spec.size > 1 }", message: "size \${ spec.size }" }
`);
    const one = harness.podSet('one', { size: 2 });
    await harness.settle();
    const first = conditionOf(harness, 'Big');
    await harness.clock.advance(60_000);
    harness.edit(one, { spec: { size: 3 } });
    await harness.settle();
    assert.equal(shown(harness, 'Big'), 'True Big: size 3');
    assert.equal(conditionOf(harness, 'Big')?.lastTransitionTime, first?.lastTransitionTime);
    harness.edit(one, { spec: { size: 0 } });
    await harness.settle();
    assert.notEqual(conditionOf(harness, 'Big')?.lastTransitionTime, first?.lastTransitionTime);
    harness.cluster.takeWrites();
    await harness.runOne('default/one');
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('a condition that another manager changes is reverted, and one that is not ours is left', async () => {
    const harness = await harnessOf(`
  conditions:
    - { type: Big, status: true }
`);
    const one = harness.podSet('one');
    await harness.settle();
    const conditions = (harness.status('one').conditions as readonly Condition[]).map(
      (condition) => (condition.type === 'Big' ? { ...condition, status: 'False' } : condition),
    );
    const theirs = { ...conditions[0], type: 'Theirs', status: 'True' };
    harness.edit(one, {
      status: { ...harness.status('one'), conditions: [...conditions, theirs] },
    });
    await harness.settle();
    assert.equal(conditionOf(harness, 'Big')?.status, 'True');
    assert.equal(conditionOf(harness, 'Theirs')?.status, 'True');
  });

  test('they stay as they are while an informer that they may read is not usable', async () => {
    const body = `
  reads: [{ id: pods, apiVersion: v1, kind: Pod, selector: all }]
  conditions:
    - { type: HasPods, status: "\${ $count(reads.pods) > 0 }" }
`;
    const harness = await harnessOf(body);
    harness.podSet('one');
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'default' },
    });
    await harness.settle();
    assert.equal(conditionOf(harness, 'HasPods')?.status, 'True');
    harness.cluster.block('Pod', new KubeError('forbidden', 'no', { status: 403 }));
    await harness.restart(planOfPodSet(body));
    await harness.settle();
    assert.equal(conditionOf(harness, 'HasPods')?.status, 'True');
  });
});

describe('reconcile/report time', () => {
  test('$now() is the same wherever a pass asks for it', async () => {
    const harness = await harnessOf(`
  status: { at: "\${ $now() }" }
  conditions: [{ type: Now, status: true, message: "\${ $now() }" }]
  events: [{ when: true, reason: Now, message: "\${ $now() }" }]
`);
    harness.podSet('one');
    harness.cluster.deliver();
    // Time passes while the pass is under way.
    harness.cluster.pace = () => harness.clock.advance(5);
    await harness.runOne('default/one');
    const { at } = harness.status('one');
    assert.equal(conditionOf(harness, 'Now')?.message, at);
    assert.equal(harness.cluster.reported.find(({ reason }) => reason === 'Now')?.note, at);
  });

  test('a pass that wrote a status only is no news for the log', async () => {
    const harness = await harnessOf('  status: { size: "${ spec.size }" }\n');
    harness.podSet('one', { size: 1 });
    await harness.settle();
    const levels = harness.log.filter(({ msg }) => msg === 'Reconciled').map(({ level }) => level);
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

  const reported = (harness: OperatorHarness) =>
    harness.cluster.reported
      .filter(({ reason }) => reason !== 'ApplyFailed')
      .map(({ type, reason, note }) => `${type} ${reason}: ${note}`);

  test('are reported in the pass in which `when` is true, and not again', async () => {
    const harness = await harnessOf(events);
    const one = harness.podSet('one', { size: 3, done: false });
    await harness.settle();
    assert.deepEqual(reported(harness), []);
    harness.edit(one, { spec: { size: 3, done: true } });
    await harness.settle();
    assert.deepEqual(reported(harness), ['Normal Completed: all 3 done']);
    harness.edit(one, { spec: { size: 4, done: true } });
    await harness.settle();
    assert.equal(reported(harness).length, 1);
  });

  test('may be warnings without a message', async () => {
    const harness = await harnessOf(events);
    harness.podSet('one', { size: 101 });
    await harness.settle();
    assert.deepEqual(reported(harness), ['Warning TooMany: ']);
  });

  test('are reported once, when the status that they report is written', async () => {
    const harness = await harnessOf(events);
    harness.podSet('one', { size: 1, done: true });
    harness.cluster.fault = ({ verb }) =>
      verb === 'status' ? new KubeError('unavailable', 'no', { status: 503 }) : undefined;
    harness.cluster.deliver();
    await harness.runOne('default/one');
    assert.deepEqual(reported(harness), []);
    harness.cluster.fault = () => undefined;
    await harness.runOne('default/one');
    await harness.settle();
    assert.deepEqual(reported(harness), ['Normal Completed: all 1 done']);
  });

  test('a `when` without a result is an error that Ready reports', async () => {
    const harness = await harnessOf(`
  events:
    - { when: "\${ spec.nothing }", reason: Never }
`);
    harness.podSet('one');
    await harness.settle();
    assert.match(
      harness.ready('one') ?? '',
      /^False RenderFailed: events\[0\]\.when: Missing value "spec\.nothing" \(\S+\.yaml:\d+:\d+\)$/,
    );
  });
});

describe('reconcile/report requeueAfter', () => {
  test('runs the resource again after the duration, as often as it says so', async () => {
    const harness = await harnessOf(`
  requeueAfter: '\${ spec.cooling ? "10s" }'
`);
    const one = harness.podSet('one', { cooling: true });
    await harness.settle();
    const before = harness.passes.length;
    await harness.clock.advance(10_000);
    await harness.settle();
    assert.equal(harness.passes.length, before + 1);
    await harness.clock.advance(10_000);
    await harness.settle();
    assert.equal(harness.passes.length, before + 2);
    harness.edit(one, { spec: { cooling: false } });
    await harness.settle();
    const last = harness.passes.length;
    await harness.clock.advance(60_000);
    await harness.settle();
    assert.equal(harness.passes.length, last);
  });

  test('what is no duration is reported', async () => {
    const harness = await harnessOf('  requeueAfter: "${ spec.wait }"\n');
    harness.podSet('one', { wait: 'soon' });
    await harness.settle();
    assert.match(
      harness.ready('one') ?? '',
      /^False RenderFailed: requeueAfter: Expected a duration such as "30s" or "5m" \(\S+\.yaml:\d+:\d+\)$/,
    );
  });

  test('less than a second counts as one', async () => {
    const harness = await harnessOf('  requeueAfter: 1ms\n');
    harness.podSet('one');
    await harness.settle();
    const before = harness.passes.length;
    await harness.clock.advance(999);
    await harness.settle();
    assert.equal(harness.passes.length, before);
    await harness.clock.advance(1);
    await harness.settle();
    assert.equal(harness.passes.length, before + 1);
  });
});
