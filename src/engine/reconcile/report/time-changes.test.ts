import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';
import { TimeChanges } from '../pass/time-changes.ts';

async function harnessOf(body: string): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOfPodSet(body));
  await harness.start();
  return harness;
}

/** The time that is some seconds after the start. */
function after(harness: OperatorHarness, seconds: number): string {
  return new Date(harness.clock.nowMs() + seconds * 1_000).toISOString();
}

const config = (more: string) => `
  children:
    - id: config
${more}
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
`;

describe('reconcile/report time changes', () => {
  test('a child whose "when" compares the time is deleted at that time, without other reconciles', async () => {
    const harness = await harnessOf(config('      when: ${ $now() < spec.until }'));
    harness.podSet('one', { until: after(harness, 3_600) });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['one']);
    const before = harness.passes.length;
    await harness.clock.advance(3_599_999);
    await harness.settle();
    assert.equal(harness.passes.length, before);
    await harness.clock.advance(1);
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
    // The time in the spec equals the present by chance, and is followed once more.
    await harness.clock.advance(1_000);
    await harness.settle();
    const last = harness.passes.length;
    await harness.clock.advance(86_400_000);
    await harness.settle();
    assert.equal(harness.passes.length, last);
  });

  test('templates, elements, vars, the status and conditions follow the time, too', async () => {
    const harness = await harnessOf(`
  vars:
    late: \${ $millis() >= $toMillis(spec.first) }
  children:
    - id: config
      forEach: \${ spec.items[from <= $now()] }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ $item.name }" }
        data:
          phase: '\${ $now() < spec.second ? "early" : "late" }'
  status:
    isLate: \${ vars.late }
  conditions:
    - { type: Over, status: "\${ $now() >= spec.third }" }
`);
    const items = [
      { name: 'a', from: after(harness, -1) },
      { name: 'b', from: after(harness, 50) },
    ];
    const [first, second, third] = [10, 20, 30].map((seconds) => after(harness, seconds));
    harness.podSet('one', { items, first, second, third });
    await harness.settle();
    const seen = () => {
      const { isLate, conditions } = harness.status('one') as {
        isLate: boolean;
        conditions: readonly { type: string; status: string }[];
      };
      const over = conditions.find(({ type }) => type === 'Over')?.status;
      const phases = harness
        .names('v1', 'ConfigMap')
        .map(
          (name) => (harness.get('v1', 'ConfigMap', name) as { data?: unknown } | undefined)?.data,
        );
      return JSON.stringify([isLate, over, ...phases]);
    };
    const states = [seen()];
    for (let step = 0; step < 5; step++) {
      await harness.clock.advance(10_000);
      await harness.settle();
      states.push(seen());
    }
    assert.deepEqual(states, [
      '[false,"False",{"phase":"early"}]',
      '[true,"False",{"phase":"early"}]',
      '[true,"False",{"phase":"late"}]',
      '[true,"True",{"phase":"late"}]',
      '[true,"True",{"phase":"late"}]',
      '[true,"True",{"phase":"late"},{"phase":"late"}]',
    ]);
  });

  test('an expression that changes all the time is followed slowly', async () => {
    const harness = await harnessOf('  status: { odd: "${ $millis() % 2000 >= 1000 }" }\n');
    harness.podSet('one');
    await harness.settle();
    const before = harness.passes.length;
    for (let second = 0; second < 120; second++) {
      await harness.clock.advance(1_000);
      await harness.settle();
    }
    const passes = harness.passes.length - before;
    assert.ok(passes >= 10 && passes <= 40, String(passes));
  });

  test('changes are a second apart, and more often only for a while', () => {
    const changes = new TimeChanges();
    assert.equal(changes.plan(1_000_500, 1_000_000), 1_000);
    assert.equal(changes.plan(1_090_000, 1_000_000), 90_000);
    let nowMs = 2_000_000;
    const delays = Array.from({ length: 12 }, () => {
      const delay = changes.plan(nowMs + 1, nowMs);
      nowMs += delay;
      return delay;
    });
    assert.deepEqual(delays, [...Array<number>(10).fill(1_000), 10_000, 10_000]);
  });

  test('a resource has a schedule of its own', async () => {
    const harness = await harnessOf(`
  schedule: { cron: "\${ spec.cron }", timeZone: Europe/Berlin }
  status: { at: "\${ $now() }" }
`);
    harness.podSet('one', { cron: '*/10 * * * *' });
    harness.podSet('two', { cron: '*/15 * * * *' });
    harness.podSet('never', {});
    await harness.settle();
    const before = harness.passes.length;
    for (let minute = 0; minute < 60; minute += 5) {
      await harness.clock.advance(300_000);
      await harness.settle();
    }
    const count = (name: string) =>
      harness.passes.slice(before).filter(({ key }) => key === `default/${name}`).length;
    assert.deepEqual([count('one'), count('two'), count('never')], [6, 4, 0]);
  });

  test('a schedule continues while a read cannot be evaluated', async () => {
    const harness = await harnessOf(`
  reads:
    - { id: mark, apiVersion: v1, kind: ConfigMap, name: mark, optional: true }
  schedule: { cron: "\${ spec.cron }" }
  status: { mark: "\${ $exists(reads.mark) }", at: "\${ $now() }" }
`);
    harness.podSet('one', { cron: '*/10 * * * *' });
    await harness.settle();
    harness.cluster.lose('ConfigMap', new KubeError('forbidden', 'no', { status: 403 }));
    await harness.settle();
    const before = harness.passes.length;
    for (let round = 1; round <= 3; round++) {
      await harness.clock.advance(600_000);
      await harness.settle();
      assert.ok(
        harness.passes.length >= before + round,
        `${harness.passes.length - before} in ${round}`,
      );
    }
  });

  for (const earlyMs of [1, 20])
    test(`a reconcile ${earlyMs} ms before a time of its schedule does not replace the one after it`, async () => {
      const harness = await harnessOf('  schedule: { cron: "${ spec.cron }" }\n');
      harness.podSet('one', { cron: '*/10 * * * *' });
      harness.deliver();
      const turn = { signal: harness.signal, yieldWorker: async () => 'current' as const };
      await harness.operator.reconcile('default/one', turn);
      await harness.clock.advance(600_000 - earlyMs);
      const { due } = await harness.operator.reconcile('default/one', turn);
      // The shortest time between two.
      assert.equal(due?.afterMs, 1_000);
    });

  for (const [what, body, spec, afterMs] of [
    [
      'a change',
      '  status: { isLate: "${ $now() >= spec.at }" }\n',
      { at: '2026-01-01T00:01:00.000Z' },
      60_000,
    ],
    [
      'a schedule',
      '  schedule: { cron: "${ spec.cron }" }\n  status: { at: "${ $now() }" }\n',
      { cron: '*/10 * * * *' },
      600_000,
    ],
  ] as const)
    test(`${what} is not later by the time that the status write takes`, async () => {
      const harness = await harnessOf(body);
      harness.podSet('one', spec);
      harness.deliver();
      const yieldWorker = async () => {
        await harness.clock.advance(30_000);
        return 'current' as const;
      };
      const { signal } = harness;
      const { due } = await harness.operator.reconcile('default/one', { signal, yieldWorker });
      assert.equal(due?.afterMs, afterMs - 30_000);
    });

  test('what is no schedule is reported', async () => {
    const harness = await harnessOf('  schedule: { cron: "${ spec.cron }" }\n');
    harness.podSet('one', { cron: 'soon' });
    await harness.settle();
    assert.match(
      harness.ready('one') ?? '',
      /^False RenderFailed: schedule\.cron: Expected a cron expression such as "0 3 \* \* \*" \(\S+\.yaml:\d+:\d+\)$/,
    );
  });
});
