import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { WriteRateLimiter } from './write-rate-limiter.ts';

function setUp() {
  const clock = new FakeClock();
  const pace = new WriteRateLimiter(clock, { burst: 3, refillMs: 1_000 });
  const write = () => {
    const delayMs = pace.delayOf('a');
    if (delayMs === 0) pace.recordWrite('a');
    return delayMs;
  };
  return { clock, pace, write };
}

describe('runtime/objects/write-rate-limiter', () => {
  test('some at once, then one a second', async () => {
    const { clock, write } = setUp();
    assert.deepEqual([write(), write(), write(), write()], [0, 0, 0, 1_000]);
    await clock.advance(400);
    assert.equal(Math.round(write()), 600);
    await clock.advance(600);
    assert.deepEqual([write(), write()], [0, 1_000]);
  });

  test('who has been quiet for long may write as often again, and no oftener', async () => {
    const { clock, write } = setUp();
    for (let times = 0; times < 3; times++) write();
    await clock.advance(3_600_000);
    assert.deepEqual([write(), write(), write(), write()], [0, 0, 0, 1_000]);
  });

  test('what nothing waits for rests after the last write', async () => {
    const { clock, pace, write } = setUp();
    write();
    assert.equal(pace.delayOf('a', 500), 500);
    await clock.advance(500);
    assert.equal(pace.delayOf('a', 500), 0);
  });

  test('each object has a pace of its own, and none once forgotten', () => {
    const { pace, write } = setUp();
    for (let times = 0; times < 3; times++) write();
    assert.equal(pace.delayOf('b'), 0);
    pace.forget('a');
    assert.equal(write(), 0);
  });
});
