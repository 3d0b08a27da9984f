import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { createResourceState } from '../resource-state.ts';
import { noteLimit, remainingLimitRestMs } from './limit-rest.ts';
import type { Pass } from './pass.ts';

const resource = (generation: number): KubeObject => ({
  apiVersion: 'shop.example.com/v1',
  kind: 'Thing',
  metadata: { name: 'one', generation },
});

describe('reconcile/pass/limit-rest', () => {
  function create() {
    const clock = new FakeClock();
    const state = createResourceState('u1');
    return {
      clock,
      reconcile: (generation: number, isExceeded: boolean) =>
        noteLimit({
          state,
          context: { clock },
          resource: resource(generation),
          budget: { isExceeded },
        } as unknown as Pass),
      restMs: (generation: number) => remainingLimitRestMs(state, resource(generation), clock),
    };
  }

  test('within the limits there is no rest', () => {
    const { reconcile, restMs } = create();
    reconcile(1, false);
    assert.equal(restMs(1), 0);
  });

  test('beyond them the rest grows from 5 s to 5 min, until it is within them again', () => {
    const { reconcile, restMs } = create();
    const rests: number[] = [];
    for (let round = 0; round < 8; round++) {
      reconcile(1, true);
      rests.push(restMs(1) / 1_000);
    }
    assert.deepEqual(rests, [5, 10, 20, 40, 80, 160, 300, 300]);
    reconcile(1, false);
    assert.equal(restMs(1), 0);
  });

  test('an edit makes the rest short, and does not end it', async () => {
    const { clock, reconcile, restMs } = create();
    for (let round = 0; round < 3; round++) reconcile(1, true);
    await clock.advance(1_000);
    assert.deepEqual([restMs(1), restMs(2)], [19_000, 4_000]);
    reconcile(2, true);
    assert.equal(restMs(2), 5_000);
  });
});
