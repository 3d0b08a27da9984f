import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nextTurn } from './next-turn.ts';

describe('util/next-turn', () => {
  test('lets promises and earlier turns run first', async () => {
    const order: string[] = [];
    const earlier = nextTurn().then(() => order.push('earlier turn'));
    const later = nextTurn().then(() => order.push('later turn'));
    queueMicrotask(() => order.push('promise'));
    await Promise.all([earlier, later]);
    assert.deepEqual(order, ['promise', 'earlier turn', 'later turn']);
  });
});
