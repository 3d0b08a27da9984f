import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import type { Problem } from '../failure.ts';
import { Ledger } from './ledger.ts';
import { Obstacles } from './obstacles.ts';

const problem: Problem = {
  reason: 'ApplyFailed',
  message: 'no',
  code: 'denied',
  kind: 'permanent',
};
const right = { verb: 'create', group: 'apps', resource: 'deployments' } as const;

describe('reconcile/ledger/ledger', () => {
  test('what has no entry is not found, also after entries of other kinds and subjects', () => {
    const ledger = new Ledger();
    assert.equal(ledger.get('deletionRejected', 'a'), undefined);
    ledger.set('deletionRejected', { problem, untilMs: 5 }, 'a');
    assert.equal(ledger.get('deletionRejected', 'b'), undefined);
    assert.equal(ledger.get('deferred'), undefined);
    assert.equal(ledger.get('deletionRejected', 'a')?.untilMs, 5);
    ledger.delete('deletionRejected', 'a');
    assert.equal(ledger.get('deletionRejected', 'a'), undefined);
  });

  test('rejections for a right or a cause are forgotten, others are not', () => {
    const ledger = new Ledger();
    ledger.set('deletionRejected', { problem: { ...problem, right }, untilMs: 5 }, 'right');
    ledger.set(
      'deletionRejected',
      { problem: { ...problem, cause: 'grant' }, untilMs: 5 },
      'cause',
    );
    ledger.set('deletionRejected', { problem, untilMs: 5 }, 'other');
    ledger.forgetObstacles();
    const left = ['right', 'cause', 'other'].filter((uid) => ledger.get('deletionRejected', uid));
    assert.deepEqual(left, ['other']);
  });
});

describe('reconcile/ledger/obstacles', () => {
  test('a forgotten resource ends no cause, and leaves nothing behind', async () => {
    const clock = new FakeClock();
    const ended: string[] = [];
    const obstacles = new Obstacles({
      cluster: { onGranted: () => () => undefined },
      clock,
      onEnded: (key) => void ended.push(key),
    });
    const both = { ...problem, right, cause: 'grant' };
    obstacles.retain('a', [both]);
    obstacles.retain('b', [both]);
    assert.equal(obstacles.sharersOf(both), 2);
    assert.equal(obstacles.sharersOf(problem), 0);
    obstacles.forget('a');
    assert.equal(obstacles.sharersOf({ ...problem, right }), 1);
    assert.equal(obstacles.sharersOf({ ...problem, cause: 'grant' }), 1);
    obstacles.forget('b');
    assert.deepEqual(obstacles.missingRights, []);
    await clock.advance(120_000);
    assert.deepEqual(ended, []);
    assert.equal(clock.pending, 0);
  });
});
