import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { OutageDetector } from './outage-detector.ts';

/** `answers`: of the probes, in their order; the last one stands for all that follow. */
function setUp(...answers: readonly boolean[]) {
  const clock = new FakeClock();
  const atMs: number[] = [];
  const outages: number[] = [];
  const startMs = clock.monotonicMs();
  const watch = new OutageDetector({
    clock,
    probe: () => {
      atMs.push(clock.monotonicMs() - startMs);
      return Promise.resolve(answers[atMs.length - 1] ?? answers.at(-1) ?? false);
    },
    onOutage: () => outages.push(clock.monotonicMs() - startMs),
  });
  return { clock, watch, probes: atMs, outages };
}

describe('kube/outage-detector', () => {
  test('nothing is asked while nothing is suspected', async () => {
    const { clock, watch, probes } = setUp(false);
    await clock.advance(600_000);
    assert.deepEqual(probes, []);
    assert.equal(clock.pending, 0);
    watch.stop();
  });

  test('two probes in vain are an outage, which is reported once', async () => {
    const { clock, watch, probes, outages } = setUp(false);
    watch.suspect();
    watch.suspect();
    await clock.advance(250);
    assert.deepEqual(probes, [0, 250]);
    assert.deepEqual(outages, [250]);
    watch.suspect();
    await clock.advance(60_000);
    assert.deepEqual(outages, [250]);
  });

  for (const [name, answers] of [
    ['the first', [true]],
    ['the second', [false, true]],
  ] as const)
    test(`a server that answers ${name} probe is there`, async () => {
      const { clock, watch, outages } = setUp(...answers);
      watch.suspect();
      await clock.advance(60_000);
      assert.deepEqual(outages, []);
    });

  test('a server that answers on another connection is there, whatever the probes say', async () => {
    const { clock, watch, outages } = setUp(false);
    watch.suspect();
    await clock.advance(100);
    watch.responseReceived();
    await clock.advance(60_000);
    assert.deepEqual(outages, []);
  });

  test('a request that is sent between two probes proves nothing', async () => {
    const { clock, watch, outages } = setUp(false);
    watch.suspect();
    await clock.advance(100);
    watch.requestStarted();
    await clock.advance(100);
    watch.requestEnded();
    await clock.advance(50);
    assert.deepEqual(outages, [250]);
  });

  test('a request that waits while nothing arrives for five seconds is a suspicion', async () => {
    const { clock, watch, probes, outages } = setUp(false);
    watch.requestStarted();
    await clock.advance(4_000);
    watch.responseReceived();
    await clock.advance(4_999);
    assert.deepEqual(probes, []);
    await clock.advance(1);
    assert.deepEqual(probes, [9_000]);
    await clock.advance(250);
    assert.deepEqual(outages, [9_250]);
  });

  test('a slow answer of a server that answers probes is waited for, and asked about again', async () => {
    const { clock, watch, probes, outages } = setUp(true);
    watch.requestStarted();
    await clock.advance(5_000);
    assert.deepEqual(probes, [5_000]);
    await clock.advance(20_000);
    assert.ok(probes.length > 1);
    assert.deepEqual(outages, []);
    watch.requestEnded();
    assert.equal(clock.pending, 0);
  });

  test('silence counts from when an answer is due', async () => {
    const { clock, watch, probes } = setUp(false);
    await clock.advance(60_000);
    watch.requestStarted();
    await clock.advance(4_999);
    assert.deepEqual(probes, []);
    watch.requestEnded();
    await clock.advance(60_000);
    assert.deepEqual(probes, []);
  });

  test('once stopped it reports nothing', async () => {
    const { clock, watch, outages } = setUp(false);
    watch.suspect();
    watch.stop();
    await clock.advance(60_000);
    assert.deepEqual(outages, []);
  });
});
