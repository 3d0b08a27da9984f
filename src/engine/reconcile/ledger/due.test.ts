import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { Random } from '#util/random.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { TimedOperator } from '../../../../test/support/fakes/timed-operator.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';
import { forgetDue, nextDue, scheduleNext, setDue, takeDue } from './due.ts';
import { Ledger } from './ledger.ts';

/** A ledger on a fake clock, with the parts of a pass. */
function create({ everyMs, fraction = 0 }: { everyMs?: number; fraction?: number } = {}) {
  const clock = new FakeClock();
  const ledger = new Ledger();
  const random: Random = { fraction: () => fraction, text: () => '' };
  const definition = {
    controller: { retry: { permanentMs: 600_000 } },
    schedule: everyMs === undefined ? {} : { everyMs },
  };
  const pass = { context: { clock, random, plan: { definition } }, state: { ledger } };
  return { clock, ledger, pass, next: () => nextDue({ clock }, ledger) };
}

describe('reconcile/ledger/due', () => {
  test('without a schedule nothing is due', () => {
    const { pass, next } = create();
    scheduleNext(pass);
    assert.equal(next(), undefined);
  });

  for (const [fraction, seconds] of [
    [0, 30],
    [0.5, 28.5],
    [1, 27],
  ] as const) {
    test(`every 30s comes ${seconds} s after a pass has begun when chance gives ${fraction}`, () => {
      const { pass, next } = create({ everyMs: 30_000, fraction });
      scheduleNext(pass);
      assert.deepEqual(next(), { afterMs: seconds * 1_000, priority: 'low' });
    });
  }

  test('the earliest time counts, and is taken when it has come', async () => {
    const { clock, ledger, pass, next } = create({ everyMs: 30_000 });
    scheduleNext(pass);
    setDue(pass, 'requeueAfter', 10_000);
    assert.deepEqual(next(), { afterMs: 10_000, priority: 'normal' });
    await clock.advance(9_000);
    assert.equal(takeDue({ clock }, ledger), undefined);
    // A timer may fire too early.
    await clock.advance(990);
    assert.equal(takeDue({ clock }, ledger), 'requeueAfter');
    assert.equal(takeDue({ clock }, ledger), undefined);
    assert.deepEqual(next(), { afterMs: 20_010, priority: 'low' });
  });

  test('a later time replaces an earlier one, and none removes it', () => {
    const { pass, next } = create();
    setDue(pass, 'requeueAfter', 5_000);
    setDue(pass, 'requeueAfter', 10_000);
    assert.equal(next()?.afterMs, 10_000);
    setDue(pass, 'requeueAfter', undefined);
    assert.equal(next(), undefined);
  });

  test('a forgotten ledger is due for nothing', () => {
    const { ledger, pass, next } = create({ everyMs: 30_000 });
    scheduleNext(pass);
    setDue(pass, 'timeout', 10_000);
    forgetDue(ledger);
    assert.equal(next(), undefined);
  });

  test('a resource that fails also runs when it is due, and its retries keep their delays', async () => {
    const harness = new OperatorHarness(
      planOfPodSet(`
  schedule: { every: 30s }
  children:
    - id: map
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: map } }`),
    );
    const timed = new TimedOperator(harness, { baseDelayMs: 100_000, maxDelayMs: 100_000 });
    await timed.start();
    harness.cluster.fault = ({ verb }) =>
      verb === 'apply' ? new KubeError('server-error', 'no', { status: 500 }) : undefined;
    harness.podSet('a');
    await timed.pass(95);
    assert.equal(timed.runs.length, 4, `${timed.runs}`);
  });

  test('a time that is due counts as an event, and is the cause of the reconcile', async () => {
    const plan = planOfPodSet(`
  requeueAfter: 10s
  status: { size: "\${ spec.size }" }`);
    const harness = new OperatorHarness(plan);
    const causes: string[] = [];
    harness.onCause = (_key, cause) => void causes.push(cause);
    await harness.restart(plan);
    harness.podSet('a', { size: 1 });
    await harness.settle();
    assert.deepEqual(causes, ['change']);
    await harness.clock.advance(10_000);
    await harness.settle();
    assert.deepEqual(causes, ['change', 'timer']);
    assert.equal(harness.passes.length, 2);
  });
});
