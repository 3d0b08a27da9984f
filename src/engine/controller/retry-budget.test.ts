import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { RetryBudget } from './retry-budget.ts';

function setUp(perSecond = 10, burst = 3) {
  const clock = new FakeClock();
  const released: string[] = [];
  const budget = new RetryBudget({
    clock,
    perSecond,
    burst,
    onRelease: (key, wasHeld) => released.push(wasHeld ? `${key}, late` : key),
  });
  const ask = (...keys: string[]) => {
    for (const key of keys) budget.request(key);
  };
  return { clock, released, budget, ask };
}

describe('controller/retry-budget', () => {
  test('lets a burst go at once and the rest at its rate, in order', async () => {
    const { clock, released, budget, ask } = setUp();
    ask('a', 'b', 'c', 'd', 'e');
    assert.deepEqual(released, ['a', 'b', 'c']);
    assert.equal(budget.held, 2);
    await clock.advance(99);
    assert.equal(released.length, 3);
    await clock.advance(1);
    assert.deepEqual(released.slice(3), ['d, late']);
    await clock.advance(100);
    assert.deepEqual(released.slice(3), ['d, late', 'e, late']);
    assert.equal(clock.pending, 0);
  });

  test('a burst is spread, and the next retry after one that went well is not', async () => {
    const clock = new FakeClock();
    const released: string[] = [];
    const onRelease = (key: string) => void released.push(key);
    const budget = new RetryBudget({
      clock,
      perSecond: 10,
      burst: 5,
      atOnce: 1,
      spacingMs: 20,
      onRelease,
    });
    for (const key of ['a', 'b', 'c', 'd']) budget.request(key);
    assert.deepEqual(released, ['a']);
    await clock.advance(19);
    assert.deepEqual(released, ['a']);
    await clock.advance(1);
    assert.deepEqual(released, ['a', 'b']);
    budget.returnToken();
    assert.deepEqual(released, ['a', 'b', 'c']);
    await clock.advance(20);
    assert.deepEqual(released, ['a', 'b', 'c', 'd']);
    assert.equal(clock.pending, 0);
  });

  test('no one passes a key that is held', () => {
    const { released, budget, ask } = setUp(10, 1);
    ask('a', 'b');
    budget.remove('c');
    ask('c');
    budget.returnToken();
    assert.deepEqual(released, ['a', 'b, late']);
  });

  test('a key that has just begun to fail runs before those that have failed often', async () => {
    const { clock, released, budget, ask } = setUp(10, 1);
    ask('a', 'b', 'c');
    budget.request('new', true);
    await clock.advance(200);
    assert.deepEqual(released, ['a', 'new', 'b, late']);
  });

  test('a retry that went well lets the next one go at once', () => {
    const { released, budget, ask } = setUp(10, 1);
    ask('a', 'b', 'c');
    budget.returnToken();
    budget.returnToken();
    assert.deepEqual(released, ['a', 'b, late', 'c, late']);
  });

  test('what was given back is never more than the burst', async () => {
    const { clock, released, budget, ask } = setUp(10, 2);
    await clock.advance(10_000);
    for (let index = 0; index < 5; index++) budget.returnToken();
    ask('a', 'b', 'c');
    assert.deepEqual(released, ['a', 'b']);
  });

  test('a key that leaves takes no token and leaves no timer', async () => {
    const { clock, released, budget, ask } = setUp(10, 1);
    ask('a', 'b', 'c');
    budget.remove('b');
    await clock.advance(100);
    assert.deepEqual(released, ['a', 'c, late']);
    ask('d');
    budget.remove('d');
    assert.equal(clock.pending, 0);
    assert.equal(budget.held, 0);
  });

  test('a thousand keys that fail for ever cost what the rate says', async () => {
    const clock = new FakeClock();
    let runs = 0;
    const budget: RetryBudget = new RetryBudget({
      clock,
      perSecond: 10,
      burst: 100,
      onRelease: (key) => {
        runs += 1;
        clock.after(1, () => budget.request(key));
      },
    });
    for (let index = 0; index < 1_000; index++) budget.request(`key-${index}`);
    await clock.advance(60_000);
    assert.equal(runs, 100 + 600);
  });
});
