import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { resync } from './restart-conditions.ts';

/** Rounds of a minute, with the least or the most that chance makes of them. */
function startResync(t: TestContext, fraction = 0, everyMs = 60_000) {
  const clock = new FakeClock();
  const stopper = new AbortController();
  const state = { rounds: 0 };
  const random = { fraction: () => fraction, text: () => '' };
  const runAll = () => void state.rounds++;
  const running = resync({ clock, random, everyMs, runAll }, stopper.signal);
  const stop = async () => {
    stopper.abort();
    await running;
    assert.equal(clock.pending, 0);
  };
  t.after(stop);
  return { clock, state, stop };
}

describe('runtime/runner/resync', () => {
  for (const [fraction, firstMs] of [
    [0, 54_000],
    [1, 66_000],
  ] as const) {
    test(`runs all after ${firstMs / 1_000} s where the draw is ${fraction}, and again and again`, async (t) => {
      const { clock, state } = startResync(t, fraction);
      await clock.advance(firstMs - 1);
      assert.equal(state.rounds, 0);
      await clock.advance(1);
      assert.equal(state.rounds, 1);
      await clock.advance(2 * firstMs);
      assert.equal(state.rounds, 3);
    });
  }

  test('runs nothing any more when it has ended', async (t) => {
    const { clock, state, stop } = startResync(t);
    await clock.advance(50_000);
    await stop();
    await clock.advance(3_600_000);
    assert.equal(state.rounds, 0);
  });

  test('with 0 there is none', async (t) => {
    const { clock, state } = startResync(t, 0, 0);
    await clock.advance(3_600_000);
    assert.deepEqual([state.rounds, clock.pending], [0, 0]);
  });
});
