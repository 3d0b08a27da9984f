import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  LeaseHarness,
  type Member,
  type Network,
} from '../../../../test/support/leadership/lease-harness.ts';
import { SeededRandom } from '../../../../test/support/model/seeded-random.ts';

const seeds = Array.from({ length: 25 }, (_, index) => index + 1);
const contenders = 5;
const roughMs = 400_000;
const calmMs = 60_000;

/** A history: what happens to five processes, with the promise of the fence checked after each thing that happens. */
class History {
  readonly harness: LeaseHarness;
  readonly #random: SeededRandom;
  #joined = 0;
  #isRough = true;
  /** How often somebody else may write than before. */
  changes = 0;
  #last: Member | undefined;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    this.harness = new LeaseHarness(this.#random);
    // The kubelet starts it again.
    this.harness.onLeft = () => void this.harness.at(1_000, () => this.#fill());
  }

  async run(): Promise<void> {
    for (let index = 0; index < contenders; index++) this.#join();
    this.#plan();
    await this.harness.run(roughMs, () => this.check());
    this.#isRough = false;
    for (const member of this.harness.members) member.thaw(() => this.check());
    await this.harness.run(calmMs, () => this.check());
  }

  check(): void {
    const { writers } = this.harness;
    const names = writers.map(({ name }) => name);
    assert.ok(writers.length <= 1, `${names.join(' and ')} may write at ${this.harness.nowMs} ms`);
    const [one] = writers;
    if (one === undefined || one === this.#last) return;
    this.#last = one;
    this.changes += 1;
  }

  #join(): void {
    this.#joined += 1;
    const rate = 0.95 + 0.1 * this.#random.fraction();
    const wallMs = this.#random.below(1e12);
    this.harness.join({
      name: `p${this.#joined}`,
      network: this.#network(),
      rate,
      wallMs,
    });
  }

  #fill(): void {
    while (this.harness.members.size < contenders) this.#join();
  }

  #network(): Network {
    let cutUntilMs = 0;
    const delayMs = () => {
      if (!this.#isRough) return 5;
      const { nowMs } = this.harness;
      if (nowMs > cutUntilMs && this.#random.chance(0.02))
        cutUntilMs = nowMs + this.#random.below(25_000);
      // Behind a cut it comes late, or never.
      const cutMs = Math.max(0, cutUntilMs - nowMs);
      if (cutMs > 0 && this.#random.chance(0.5)) return undefined;
      return (
        cutMs + (this.#random.chance(0.1) ? this.#random.below(8_000) : this.#random.below(50))
      );
    };
    return { delayMs };
  }

  /** Every few seconds one of them is frozen, continues, is killed or stopped. */
  #plan(): void {
    this.harness.at(this.#random.below(6_000), () => {
      if (!this.#isRough) return;
      const member = this.#random.pick([...this.harness.members]);
      if (member !== undefined) this.#strike(member);
      this.#plan();
    });
  }

  #strike(member: Member): void {
    const choice = this.#random.fraction();
    if (member.isFrozen) member.thaw(() => this.check());
    else if (choice < 0.4) member.freeze();
    else if (choice < 0.5) member.kill();
    else if (choice < 0.6) void member.stop().then(() => member.kill());
  }
}

describe('runtime/leadership leader elector: random histories', () => {
  test('never may two processes write, and when all is calm one may', async () => {
    let changes = 0;
    for (const seed of seeds) {
      const history = new History(seed);
      await history.run().catch((error: unknown) => {
        throw new Error(`Seed ${seed}: ${error instanceof Error ? error.message : error}`, {
          cause: error,
        });
      });
      assert.equal(history.harness.writers.length, 1, `Seed ${seed}: somebody leads`);
      changes += history.changes;
    }
    // Otherwise nothing was tried.
    assert.ok(changes > seeds.length * 5, `${changes} changes`);
  });
});
