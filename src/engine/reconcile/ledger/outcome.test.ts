import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import type { Problem } from '../failure.ts';
import { outcomeOf } from './outcome.ts';

const permanentMs = 600_000;

function passWith(sharers = 1) {
  const plan = { definition: { controller: { retry: { permanentMs } } } };
  return { context: { clock: new FakeClock(), plan, obstacles: { sharersOf: () => sharers } } };
}

const permanent: Problem = {
  reason: 'ApplyFailed',
  message: 'no',
  code: 'rejected',
  kind: 'permanent',
};

describe('reconcile/ledger/outcome', () => {
  test('what waits has no time', () => {
    assert.deepEqual(outcomeOf(passWith(), [{ ...permanent, kind: 'waiting' }]), { kind: 'done' });
  });

  test('an unreachable server comes before other errors, and errors before the rest', () => {
    const [conflict, lost] = [
      new KubeError('conflict', 'no', { status: 409 }),
      new KubeError('connection-lost', 'no', { status: 0 }),
    ];
    const temporary = { ...permanent, kind: 'temporary' } as const;
    const problems = [
      permanent,
      { ...temporary, error: conflict },
      { ...temporary, error: lost },
      { ...temporary, slowRetry: { baseDelayMs: 5_000, maxDelayMs: 300_000 } },
    ];
    assert.deepEqual(outcomeOf(passWith(), problems), { kind: 'error', error: lost });
  });

  test('the earliest of several permanent problems counts, and is a failure unless all are partial', () => {
    const partial = { ...permanent, isPartial: true, retryAfterMs: 10_000 };
    const failed = { afterMs: 10_000, reason: 'ApplyFailed' } as const;
    assert.deepEqual(outcomeOf(passWith(), [permanent, partial]), { kind: 'failed', ...failed });
    assert.deepEqual(outcomeOf(passWith(), [partial]), { kind: 'requeue', ...failed });
  });

  test('resources that share a right repeat their requests at most once a minute together', () => {
    const afterMs = (problem: Problem) => (sharers: number) => {
      const outcome = outcomeOf(passWith(sharers), [problem]);
      return 'afterMs' in outcome ? outcome.afterMs : undefined;
    };
    assert.deepEqual([1, 11, 12].map(afterMs(permanent)), [600_000, 600_000, 660_000]);
    const later = { ...permanent, retryAfterMs: 60_000 };
    assert.deepEqual([1, 11, 12].map(afterMs(later)), [60_000, 60_000, 120_000]);
  });
});
