import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SharedBudget } from './shared-budget.ts';

function sharesOf(maxLength: number, ...names: readonly string[]) {
  const budget = new SharedBudget(maxLength);
  const ended: string[] = [];
  const shares = names.map((name) => budget.open(() => ended.push(name)));
  return { ended, shares };
}

describe('kube/cache shared budget', () => {
  test('the largest is ended, not the one that asked last', () => {
    const { ended, shares } = sharesOf(100, 'small', 'large', 'middle');
    const [small, large, middle] = shares;
    large?.add(60);
    middle?.add(30);
    small?.add(10);
    assert.deepEqual(ended, []);
    small?.add(1);
    assert.deepEqual(ended, ['large']);
  });

  test('one that is ending is not ended again, and no other in its place', () => {
    const { ended, shares } = sharesOf(100, 'small', 'large');
    const [small, large] = shares;
    large?.add(101);
    large?.add(500);
    small?.add(90);
    assert.deepEqual(ended, ['large']);
    large?.close();
    large?.add(500);
    assert.deepEqual(ended, ['large']);
    small?.add(11);
    assert.deepEqual(ended, ['large', 'small']);
  });

  test('what is released or closed does not count', () => {
    const { ended, shares } = sharesOf(100, 'first', 'second');
    const [first, second] = shares;
    for (let round = 0; round < 10; round++) {
      first?.add(90);
      first?.add(-90);
    }
    first?.add(90);
    first?.close();
    first?.close();
    second?.add(100);
    assert.deepEqual(ended, []);
  });

  test('several are ended if one is not enough', () => {
    const { ended, shares } = sharesOf(100, 'first', 'second', 'third');
    const [first, second, third] = shares;
    first?.add(50);
    second?.add(49);
    third?.add(210);
    assert.deepEqual(ended, ['third']);
    second?.add(60);
    assert.deepEqual(ended, ['third', 'second']);
  });
});
