import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { SeededRandom } from '../../../../test/support/model/seeded-random.ts';
import type { Flow } from '../roles.ts';
import { FairQueue, type Release } from './fair-queue.ts';

const priorities = ['object', 'status', 'event'] as const;
const flowNames = ['a', 'b', 'c', 'd'];

interface Asker {
  readonly flow: Flow;
  readonly stop: AbortController;
  /** Slots that others have got since it began to wait. */
  passedBy: number;
}

interface Holder {
  readonly flow: Flow;
  readonly release: Release;
}

/** A queue under random use, with every promise it makes checked after each step. */
class Scene {
  readonly queue: FairQueue;
  readonly waiting: Asker[] = [];
  readonly holding: Holder[] = [];
  readonly #slots: number;
  readonly #share: number;
  asked = 0;
  served = 0;
  gaveUp = 0;

  constructor(slots: number) {
    this.#slots = slots;
    this.#share = Math.max(1, Math.floor((slots * 3) / 4));
    this.queue = new FairQueue({ slots, clock: new FakeClock() });
  }

  async ask(flow: Flow): Promise<void> {
    const asker = { flow, stop: new AbortController(), passedBy: 0 };
    this.asked += 1;
    this.waiting.push(asker);
    void this.queue.acquire(flow, asker.stop.signal).then(
      (release) => this.#onGrant(asker, release),
      () => {
        this.gaveUp += 1;
      },
    );
    await this.#check();
  }

  async giveUp(asker: Asker): Promise<void> {
    this.waiting.splice(this.waiting.indexOf(asker), 1);
    asker.stop.abort();
    await this.#check();
  }

  async release(holder: Holder): Promise<void> {
    this.holding.splice(this.holding.indexOf(holder), 1);
    holder.release();
    await this.#check();
  }

  #onGrant(asker: Asker, release: Release): void {
    const { flow } = asker;
    const index = this.waiting.indexOf(asker);
    assert.ok(index >= 0, 'Who gave up gets no slot');
    const isWaiting = ({ flow: { name } }: Asker) => name !== flow.name;
    const othersWait = this.waiting.some(isWaiting);
    this.waiting.splice(index, 1);
    this.holding.push({ flow, release });
    this.served += 1;
    const held = this.holding.filter((holder) => holder.flow.name === flow.name).length;
    assert.ok(!othersWait || held <= this.#share, `${flow.name} holds ${held} while others wait`);
    const elders = this.waiting.slice(0, index);
    const isElder = (elder: Asker) =>
      elder.flow.name === flow.name && elder.flow.priority === flow.priority;
    assert.ok(!elders.some(isElder), 'First come, first served within a flow and a priority');
    for (const other of this.waiting) other.passedBy += 1;
  }

  async #check(): Promise<void> {
    await settle();
    assert.ok(this.queue.inFlight <= this.#slots);
    assert.equal(this.queue.inFlight, this.holding.length);
    assert.equal(this.queue.depth, this.waiting.length);
    assert.ok(
      this.waiting.length === 0 || this.holding.length === this.#slots,
      'A free slot while some wait',
    );
    const known = new Set([...this.waiting, ...this.holding].map(({ flow }) => flow.name));
    assert.equal(this.queue.flowCount, known.size);
  }
}

describe('kube/fair-queue under random use', () => {
  for (const slots of [1, 2, 3, 4, 8, 32]) {
    test(`with ${slots} slots: none is idle, shares hold, order holds, nothing is lost`, async () => {
      const random = new SeededRandom(slots);
      const scene = new Scene(slots);
      for (let step = 0; step < 1_500; step++) {
        const asker = random.pick(scene.waiting);
        const holder = random.pick(scene.holding);
        if (asker !== undefined && random.chance(0.1)) await scene.giveUp(asker);
        else if (holder !== undefined && random.chance(0.45)) await scene.release(holder);
        else {
          const name = random.pick(flowNames) ?? 'a';
          await scene.ask({ name, priority: random.pick(priorities) ?? 'object' });
        }
      }
      for (let last = scene.holding[0]; last !== undefined; last = scene.holding[0]) {
        await scene.release(last);
      }
      assert.equal(scene.served + scene.gaveUp, scene.asked);
      assert.deepEqual([scene.queue.inFlight, scene.queue.flowCount], [0, 0]);
    });
  }

  test('no one starves beside flows that never stop asking', async () => {
    const random = new SeededRandom(7);
    const scene = new Scene(4);
    const hogs = flowNames.slice(0, 3);
    for (const name of hogs) {
      for (let index = 0; index < 20; index++) await scene.ask({ name, priority: 'object' });
    }
    for (const name of flowNames) {
      for (const priority of priorities) await scene.ask({ name, priority });
    }
    const patient = scene.waiting.slice(-flowNames.length * priorities.length);
    for (let step = 0; step < 400; step++) {
      const holder = random.pick(scene.holding);
      if (holder === undefined) break;
      await scene.release(holder);
      await scene.ask({ name: random.pick(hogs) ?? 'a', priority: 'object' });
    }
    const served = patient.filter((asker) => !scene.waiting.includes(asker));
    assert.equal(served.length, patient.length);
    // Turns of four flows, one in sixteen from below, and a line of twenty before it.
    assert.ok(Math.max(...patient.map(({ passedBy }) => passedBy)) <= 4 * 16 * 3);
  });
});
