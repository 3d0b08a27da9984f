import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { VirtualTime } from '../support/virtual-time/index.ts';

const hourMs = 3_600_000;
const signal = new AbortController().signal;

describe('test/virtual-time', () => {
  let time: VirtualTime;
  before(() => {
    time = new VirtualTime();
    time.start();
  });
  after(() => time.stop());

  test('skips to the next timer as soon as nothing is under way, in the order of time', async () => {
    const { clock } = time;
    const beforeMs = clock.monotonicMs();
    const order: number[] = [];
    const sleeps = [3, 1, 2].map((hours) =>
      clock.sleep(hours * hourMs, signal).then(() => order.push(hours)),
    );
    await Promise.all(sleeps);
    assert.deepEqual(order, [1, 2, 3]);
    assert.ok(clock.monotonicMs() - beforeMs >= 3 * hourMs);
  });

  test('the clock on the wall is ahead by the same', async () => {
    const { clock } = time;
    const [wallMs, monotonicMs] = [clock.nowMs(), clock.monotonicMs()];
    await clock.sleep(hourMs, signal);
    const [wallPassedMs, passedMs] = [clock.nowMs() - wallMs, clock.monotonicMs() - monotonicMs];
    assert.ok(Math.abs(wallPassedMs - passedMs) < 1_000, `${wallPassedMs} and ${passedMs}`);
  });

  test('stands still while the process does: what has arrived meanwhile is read before a deadline falls due', () => {
    const { clock } = time;
    const beforeMs = clock.monotonicMs();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    const passedMs = clock.monotonicMs() - beforeMs;
    assert.ok(passedMs < 1_000, `${passedMs} ms`);
  });

  test('does not skip while files are read, however many one after the other', async () => {
    let hasRun = false;
    const cancel = time.clock.after(hourMs, () => {
      hasRun = true;
    });
    for (let reads = 0; reads < 200; reads++) await readFile(fileURLToPath(import.meta.url));
    assert.equal(hasRun, false);
    cancel();
  });

  test('a timer that is cancelled never runs; a sleep that is aborted ends at once', async () => {
    const { clock } = time;
    let hasRun = false;
    clock.after(hourMs, () => {
      hasRun = true;
    })();
    const stopper = new AbortController();
    const aborted = clock.sleep(hourMs, stopper.signal);
    stopper.abort(new Error('Enough'));
    await assert.rejects(aborted, /Enough/);
    await clock.sleep(2 * hourMs, signal);
    assert.equal(hasRun, false);
  });

  test('a time that has passed shows the cluster of that moment, with nothing that is due later', async () => {
    const due: number[] = [];
    for (const hours of [1, 2, 3]) time.clock.after(hours * hourMs, () => due.push(hours));
    await time.pass(2.5 * hourMs);
    assert.deepEqual(due, [1, 2]);
  });
});
