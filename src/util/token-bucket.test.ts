import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { TokenBucket } from './token-bucket.ts';

describe('util/token-bucket', () => {
  test('begins full, and earns a token in its time', async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket({ clock, burst: 2, refillMs: 100 });
    bucket.take();
    bucket.take();
    assert.equal(bucket.delayMs, 100);
    await clock.advance(40);
    assert.equal(bucket.delayMs, 60);
    await clock.advance(60);
    assert.equal(bucket.delayMs, 0);
  });

  test('has never more than its burst, neither earned nor returned', async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket({ clock, burst: 2, refillMs: 100 });
    await clock.advance(1_000);
    bucket.give();
    assert.equal(bucket.tokens, 2);
  });

  test('a token that is taken too early delays the next one', () => {
    const bucket = new TokenBucket({ clock: new FakeClock(), burst: 1, refillMs: 100, initial: 0 });
    bucket.take();
    assert.equal(bucket.delayMs, 200);
  });
});
