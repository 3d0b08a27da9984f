import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WritePace } from './write-pace.ts';

describe('sandbox/node/write-pace', () => {
  test('few writes wait for nothing', () => {
    let now = 5;
    const pace = new WritePace(() => now);
    for (let count = 0; count < 100; count++) {
      assert.equal(pace.pauseMs(), 0);
      now++;
    }
  });

  test('of many in a moment the later ones pause, and all of the moment after', () => {
    let now = 1_000_003;
    const pace = new WritePace(() => now);
    const pauses = Array.from({ length: 50 }, () => pace.pauseMs());
    assert.equal(pauses.filter((ms) => ms === 0).length, 32);
    now += 10;
    assert.equal(pace.pauseMs(), 10);
    now += 10;
    assert.equal(pace.pauseMs(), 0);
  });
});
