import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { resolveInformerSettings } from './reflector-context.ts';
import { RetryDelay } from './retry-pause.ts';

function delaysOf(fraction: number, count: number): readonly number[] {
  const random = { fraction: () => fraction, text: () => '' };
  const settings = resolveInformerSettings();
  const delay = new RetryDelay({ clock: new FakeClock(), random, settings });
  return Array.from({ length: count }, () => next(delay));
}

function next(delay: RetryDelay): number {
  delay.fail();
  return delay.delayMs();
}

describe('kube/cache retry delay', () => {
  test('doubles from 0.8 s to 30 s', () => {
    assert.deepEqual(delaysOf(0, 8), [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  });

  test('adds up to as much again', () => {
    assert.deepEqual(delaysOf(0.5, 3), [1_200, 2_400, 4_800]);
  });

  test('starts again when nothing failed for two minutes after the wait', async () => {
    const clock = new FakeClock();
    const random = { fraction: () => 0, text: () => '' };
    const delay = new RetryDelay({ clock, random, settings: resolveInformerSettings() });
    assert.equal(next(delay), 800);
    await clock.advance(800 + 119_999);
    assert.equal(next(delay), 1_600);
    await clock.advance(1_600 + 120_000);
    assert.equal(next(delay), 800);
    assert.equal(delay.failures, 1);
  });

  test('a pause that was asked for is no quiet time', async () => {
    const clock = new FakeClock();
    const random = { fraction: () => 0, text: () => '' };
    const delay = new RetryDelay({ clock, random, settings: resolveInformerSettings() });
    assert.equal(delay.fail(), 1);
    assert.equal(delay.delayMs({ atLeastMs: 600_000 }), 600_000);
    await clock.advance(600_000);
    assert.equal(delay.fail(), 2);
    assert.equal(delay.delayMs({ atMostMs: 1_000 }), 1_000);
  });
});
