import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import type { PassResult } from './pass-result.ts';
import { RolloutPacer, type RolloutPacerOptions } from './rollout-pacer.ts';

interface SetUp {
  readonly count?: number;
  readonly perSecond?: number;
  readonly stopAfterFailures?: number;
  readonly failedBefore?: readonly string[];
  readonly resumed?: RolloutPacerOptions['resumed'];
}

function setUp({
  count = 20,
  perSecond = 0,
  stopAfterFailures = 5,
  failedBefore = [],
  resumed,
}: SetUp) {
  const clock = new FakeClock();
  const gone = new Set<string>();
  const reached: string[] = [];
  const reported: string[] = [];
  const pace = new RolloutPacer({
    keys: Array.from({ length: count }, (_, index) => `k${index}`),
    perSecond,
    stopAfterFailures,
    ...(resumed && { resumed }),
    clock,
    isPending: (key) => !gone.has(key) && !reached.includes(key),
    reach(key) {
      reached.push(key);
      return failedBefore.includes(key);
    },
    onStopped: () => reported.push('stopped'),
    onResumed: () => reported.push('resumed'),
    onDone: () => reported.push('done'),
  });
  const endAll = (verdict: PassResult) => {
    const now = reached.filter((key) => pace.watches(key) && !pace.failing.has(key));
    for (const key of now) pace.passEnded(key, verdict);
    return now.length;
  };
  return { clock, pace, gone, reached, reported, endAll };
}

describe('runtime/rollout/rollout-pacer', () => {
  test('at once means: as fast as passes end, never more on their way than may fail', () => {
    const { pace, reached, reported, endAll } = setUp({});
    pace.start();
    assert.equal(reached.length, 5);
    pace.passEnded('k0', 'succeeded');
    assert.equal(reached.length, 6);
    while (endAll('succeeded') > 0);
    assert.equal(reached.length, 20);
    assert.deepEqual(reported, ['done']);
  });

  test('so many per second, evenly', async () => {
    const { clock, pace, reached, reported, endAll } = setUp({ perSecond: 10 });
    pace.start();
    assert.equal(reached.length, 1);
    for (let step = 0; step < 20; step++) {
      endAll('succeeded');
      await clock.advance(100);
    }
    assert.equal(reached.length, 20);
    endAll('succeeded');
    assert.deepEqual(reported, ['done']);
    assert.equal(clock.pending, 0);
  });

  test('a long wait for the passes of some earns no crowd afterwards', async () => {
    const { clock, pace, reached } = setUp({ perSecond: 10, stopAfterFailures: 3 });
    pace.start();
    await clock.advance(10_000);
    assert.equal(reached.length, 3);
    for (const key of ['k0', 'k1', 'k2']) pace.passEnded(key, 'succeeded');
    assert.equal(reached.length, 4);
  });

  test('what breaks every resource breaks as many as it may, and stops', () => {
    const { pace, reached, reported, endAll } = setUp({});
    pace.start();
    while (endAll('failed') > 0);
    assert.equal(reached.length, 5);
    assert.deepEqual(reported, ['stopped']);
    assert.equal(pace.isStopped, true);
  });

  test('stopped, it continues when none of those that it stopped for fails any more', () => {
    const { pace, reached, reported, endAll } = setUp({});
    pace.start();
    while (endAll('failed') > 0);
    for (const key of ['k0', 'k1', 'k2', 'k3']) pace.passEnded(key, 'succeeded');
    assert.equal(reached.length, 5);
    pace.passEnded('k4', 'succeeded');
    assert.equal(reached.length, 10);
    while (endAll('succeeded') > 0);
    assert.deepEqual(reported, ['stopped', 'resumed', 'done']);
  });

  test('what failed before does not count', () => {
    const failedBefore = Array.from({ length: 20 }, (_, index) => `k${index}`).slice(1);
    const { pace, reported, endAll } = setUp({ failedBefore });
    pace.start();
    while (endAll('failed') > 0);
    assert.deepEqual(reported, ['done']);
  });

  test('a pass that says nothing of the text leaves its resource on its way', () => {
    const { pace, reached, reported } = setUp({});
    pace.start();
    for (const key of [...reached]) pace.passEnded(key, 'blocked');
    assert.equal(reached.length, 5);
    assert.deepEqual(reported, []);
  });

  test('what does not become clear in five passes has failed, until it succeeds', () => {
    const { pace, reached, reported } = setUp({ stopAfterFailures: 1 });
    pace.start();
    for (let pass = 1; pass <= 4; pass++) pace.passEnded('k0', 'transient');
    assert.deepEqual(reported, []);
    pace.passEnded('k0', 'transient');
    assert.deepEqual(reported, ['stopped']);
    pace.passEnded('k0', 'succeeded');
    assert.deepEqual(reported, ['stopped', 'resumed']);
    assert.deepEqual(reached, ['k0', 'k1']);
  });

  test('what another manager has reached, or is gone, is passed over', () => {
    const { pace, gone, reached, reported, endAll } = setUp({ count: 8 });
    for (const key of ['k1', 'k6', 'k7']) gone.add(key);
    pace.start();
    while (endAll('succeeded') > 0);
    assert.deepEqual(reached, ['k0', 'k2', 'k3', 'k4', 'k5']);
    assert.deepEqual(reported, ['done']);
  });

  test('held, it reaches nothing, and then continues', async () => {
    const { clock, pace, reached } = setUp({ perSecond: 100 });
    await clock.advance(1_000);
    assert.equal(reached.length, 0);
    pace.start();
    assert.equal(reached.length, 1);
    pace.hold();
    await clock.advance(1_000);
    pace.passEnded('k0', 'succeeded');
    assert.equal(reached.length, 1);
    pace.start();
    assert.equal(reached.length, 2);
  });

  test('ended, it reaches nothing more and leaves no timer', async () => {
    const { clock, pace, reached, reported } = setUp({ perSecond: 10 });
    pace.start();
    pace.stop();
    pace.passEnded('k0', 'failed');
    await clock.advance(10_000);
    assert.equal(reached.length, 1);
    assert.deepEqual(reported, []);
    assert.equal(clock.pending, 0);
  });

  test('stopped by an earlier process, it is stopped until none of those fails any more', () => {
    const { pace, reached, reported, endAll } = setUp({
      resumed: { failing: ['f0', 'f1'], isStopped: true },
    });
    assert.equal(pace.isStopped, true);
    pace.start();
    assert.equal(pace.watches('f0'), true);
    pace.passEnded('f0', 'succeeded');
    pace.passEnded('f1', 'failed');
    assert.deepEqual(reached, []);
    pace.passEnded('f1', 'succeeded');
    assert.equal(reached.length, 5);
    while (endAll('succeeded') > 0);
    assert.deepEqual(reported, ['resumed', 'done']);
  });

  test('what fails since an earlier process counts, and may stop it before it reaches any', () => {
    const failing = ['f0', 'f1', 'f2'];
    const some = setUp({ resumed: { failing, isStopped: false } });
    some.pace.start();
    assert.equal(some.reached.length, 2);
    const enough = setUp({ stopAfterFailures: 3, resumed: { failing, isStopped: false } });
    enough.pace.start();
    assert.deepEqual([enough.reached, enough.reported], [[], ['stopped']]);
  });

  test('stopped for none that is left, it continues', () => {
    const { pace, reached } = setUp({ resumed: { failing: [], isStopped: true } });
    assert.equal(pace.isStopped, false);
    pace.start();
    assert.equal(reached.length, 5);
  });

  test('of none it is done at once', () => {
    const { pace, reported } = setUp({ count: 0 });
    pace.start();
    assert.deepEqual(reported, ['done']);
  });
});
