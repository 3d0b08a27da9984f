import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import type { Flow } from '../roles.ts';
import { FairQueue, type Release } from './fair-queue.ts';

const never = new AbortController().signal;
const clock = new FakeClock();

/** Asks for slots and notes who gets them, in order. */
class Crowd {
  readonly queue: FairQueue;
  readonly served: string[] = [];
  readonly #held: { readonly name: string; readonly release: Release }[] = [];

  constructor(slots: number) {
    this.queue = new FairQueue({ slots, clock });
  }

  async ask(name: string, count = 1, priority: Flow['priority'] = 'object'): Promise<void> {
    for (let index = 0; index < count; index++) {
      void this.queue.acquire({ name, priority }, never).then((release) => {
        this.served.push(priority === 'object' ? name : `${name}/${priority}`);
        this.#held.push({ name, release });
      });
    }
    await settle();
  }

  /** Gives back the oldest slot, of that flow or of any. */
  async release(name?: string): Promise<void> {
    const index = this.#held.findIndex((held) => name === undefined || held.name === name);
    const [held] = this.#held.splice(index, 1);
    held?.release();
    await settle();
  }

  holds(name: string): number {
    return this.#held.filter((held) => held.name === name).length;
  }
}

describe('kube/fair-queue', () => {
  test('lets as many in flight as there are slots', async () => {
    const crowd = new Crowd(3);
    await crowd.ask('a', 5);
    assert.deepEqual([crowd.queue.inFlight, crowd.queue.depth], [3, 2]);
    await crowd.release();
    assert.deepEqual([crowd.queue.inFlight, crowd.queue.depth], [3, 1]);
  });

  test('flows that wait take turns', async () => {
    const crowd = new Crowd(1);
    await crowd.ask('a', 3);
    await crowd.ask('b', 2);
    await crowd.ask('c', 1);
    for (let index = 0; index < 6; index++) await crowd.release();
    assert.deepEqual(crowd.served, ['a', 'a', 'b', 'c', 'a', 'b']);
  });

  test('within a flow objects come before the status, and the status before Events', async () => {
    const crowd = new Crowd(1);
    await crowd.ask('a');
    await crowd.ask('a', 1, 'event');
    await crowd.ask('a', 1, 'status');
    await crowd.ask('a', 1, 'object');
    for (let index = 0; index < 4; index++) await crowd.release();
    assert.deepEqual(crowd.served, ['a', 'a', 'a/status', 'a/event']);
  });

  test('a flow may hold every slot while no other flow waits', async () => {
    const crowd = new Crowd(8);
    await crowd.ask('a', 20);
    assert.equal(crowd.holds('a'), 8);
  });

  test('a flow gets nothing above three quarters while another waits', async () => {
    const crowd = new Crowd(8);
    await crowd.ask('a', 20);
    await crowd.ask('b', 20);
    for (let index = 0; index < 2; index++) await crowd.release('a');
    assert.deepEqual([crowd.holds('a'), crowd.holds('b')], [6, 2]);
    // Turns alone would give the next one to each of the two.
    await crowd.release('b');
    assert.deepEqual([crowd.holds('a'), crowd.holds('b')], [6, 2]);
    await crowd.release('b');
    assert.deepEqual([crowd.holds('a'), crowd.holds('b')], [6, 2]);
  });

  test('a flow at its limit continues as soon as no other flow waits', async () => {
    const queue = new FairQueue({ slots: 4, clock });
    const served: string[] = [];
    const hold = (name: string, signal = never) =>
      queue.acquire({ name, priority: 'object' }, signal).then((release) => {
        served.push(name);
        return release;
      });
    const first = await Promise.all([hold('a'), hold('a'), hold('a'), hold('b')]);
    const stop = new AbortController();
    const waiting = [hold('a'), hold('b', stop.signal)];
    first[3]?.();
    assert.equal(queue.inFlight, 4);
    await waiting[1];
    assert.deepEqual(served, ['a', 'a', 'a', 'b', 'b']);
    const another = hold('c', stop.signal);
    stop.abort();
    await assert.rejects(another, { code: 'aborted' });
    first[0]?.();
    await waiting[0];
    assert.deepEqual(served.at(-1), 'a');
  });

  test('with one slot each flow may have it', async () => {
    const crowd = new Crowd(1);
    await crowd.ask('a', 2);
    await crowd.ask('b', 1);
    await crowd.release();
    await crowd.release();
    assert.deepEqual(crowd.served, ['a', 'a', 'b']);
  });

  test('of one flow a MiB of bodies is in flight at most, or one larger body, also while no other flow waits', async () => {
    const queue = new FairQueue({ slots: 8, clock });
    const sent: number[] = [];
    const send = async (bytes: number, name = 'a') => {
      const release = await queue.acquire({ name, priority: 'object', bytes }, never);
      sent.push(bytes);
      return release;
    };
    const running = [2_000_000, 400_000, 500_000, 600_000, 0].map((bytes) => send(bytes));
    await send(700_000, 'another');
    assert.deepEqual(sent, [2_000_000, 700_000]);
    (await running[0])?.();
    await running[2];
    assert.deepEqual(sent.slice(2), [400_000, 500_000]);
    (await running[1])?.();
    (await running[2])?.();
    await running[4];
    assert.deepEqual(sent.slice(4), [600_000, 0]);
    for (const held of running) (await held)();
    assert.equal(queue.depth, 0);
  });

  test('giving a slot back twice gives one slot back', async () => {
    const queue = new FairQueue({ slots: 2, clock });
    const release = await queue.acquire({ name: 'a', priority: 'object' }, never);
    await queue.acquire({ name: 'a', priority: 'object' }, never);
    release();
    release();
    assert.equal(queue.inFlight, 1);
  });

  test('who gives up waiting leaves no place, no flow and no listener behind', async () => {
    const queue = new FairQueue({ slots: 1, clock });
    const release = await queue.acquire({ name: 'a', priority: 'object' }, never);
    const stop = new AbortController();
    const waiting = Array.from({ length: 50 }, (_, index) =>
      queue.acquire({ name: `b-${index % 7}`, priority: 'status' }, stop.signal),
    );
    assert.deepEqual([queue.depth, queue.flowCount], [50, 8]);
    stop.abort(new Error('enough'));
    for (const one of waiting) await assert.rejects(one, { code: 'aborted' });
    assert.deepEqual([queue.depth, queue.flowCount], [0, 1]);
    assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
    release();
    assert.deepEqual([queue.inFlight, queue.flowCount], [0, 0]);
  });

  test('who got a slot leaves no listener behind', async () => {
    const queue = new FairQueue({ slots: 1, clock });
    const { signal } = new AbortController();
    const first = await queue.acquire({ name: 'a', priority: 'object' }, signal);
    const second = queue.acquire({ name: 'a', priority: 'object' }, signal);
    first();
    await second;
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  test('a status of a flow that is busy for ever is written within sixteen turns, and an Event too', async () => {
    const crowd = new Crowd(1);
    await crowd.ask('a', 40);
    await crowd.ask('a', 1, 'status');
    await crowd.ask('a', 1, 'event');
    for (let index = 0; index < 33; index++) await crowd.release();
    assert.equal(crowd.served.filter((name) => name === 'a/event').length, 1);
    assert.equal(crowd.served.filter((name) => name === 'a/status').length, 1);
  });

  test('reports how long each has waited', async () => {
    const clock = new FakeClock();
    const waits: unknown[] = [];
    const onGranted = (priority: string, waitedMs: number) => waits.push([priority, waitedMs]);
    const queue = new FairQueue({ slots: 1, clock, onGranted });
    const release = await queue.acquire({ name: 'a', priority: 'object' }, never);
    const second = queue.acquire({ name: 'a', priority: 'status' }, never);
    await clock.advance(250);
    release();
    await second;
    assert.deepEqual(waits, [
      ['object', 0],
      ['status', 250],
    ]);
  });
});
