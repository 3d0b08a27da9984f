import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WriteThrottle } from './sandbox-server.ts';

describe('sandbox/node/write-throttle', () => {
  test('few writes are not delayed', () => {
    let now = 5;
    const pace = new WriteThrottle(() => now);
    for (let count = 0; count < 100; count++) {
      assert.equal(pace.pauseMs(), 0);
      now++;
    }
  });

  test('many writes in a window delay the later ones, and all of the next window', () => {
    let now = 1_000_003;
    const pace = new WriteThrottle(() => now);
    const pauses = Array.from({ length: 50 }, () => pace.pauseMs());
    assert.equal(pauses.filter((ms) => ms === 0).length, 32);
    now += 10;
    assert.equal(pace.pauseMs(), 10);
    now += 10;
    assert.equal(pace.pauseMs(), 0);
  });
});
