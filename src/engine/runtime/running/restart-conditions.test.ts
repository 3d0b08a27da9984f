import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { KindSchema, ResourceType } from '#kube/roles.ts';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../../test/support/fakes/quiet-cluster.ts';
import { silentLogger } from '../../../../test/support/silent-telemetry.ts';
import { resync, whenNewKind } from './restart-conditions.ts';

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

describe('runtime/running/restart-conditions: resync', () => {
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

const undocumented = gvkOf('a.example.com/v1', 'Undocumented');
const late = gvkOf('b.example.com/v1', 'Late');

/** Serves one kind without a schema, and another one with a schema later. */
class LateCluster extends QuietCluster {
  isLateServed = false;
  schemaRequests = 0;

  constructor() {
    super([]);
  }

  override resourceFor(gvk: Gvk): ResourceType | undefined {
    const isServed = gvk === undocumented || this.isLateServed;
    return isServed
      ? { gvk, plural: 'some', namespaced: true, hasStatus: true, verbs: [] }
      : undefined;
  }

  override async fetchKindSchema(gvk: Gvk): Promise<KindSchema | undefined> {
    this.schemaRequests += 1;
    return gvk === late ? { root: 'late', components: { late: { type: 'object' } } } : undefined;
  }
}

describe('runtime/running/restart-conditions: missing kinds', () => {
  test('a kind that never gets a schema does not end the wait for another one', async () => {
    const [clock, cluster] = [new FakeClock(), new LateCluster()];
    const context = { cluster, clock, logger: silentLogger() };
    const found = whenNewKind([undocumented, late], context, new AbortController().signal);
    await clock.advance(600_000);
    assert.equal(cluster.schemaRequests, 12);
    cluster.isLateServed = true;
    await clock.advance(5_000);
    assert.equal(await found, 'A kind is served now');
    assert.equal(clock.pending, 0);
  });
});
