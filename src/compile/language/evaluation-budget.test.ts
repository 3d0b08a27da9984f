import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createEvaluationBudget } from './evaluation-budget.ts';
import { limits } from './limits.ts';

/** A budget, and whether it is used up after searches that took so long by the clock and so much work. */
function isUsedUp(searches: readonly (readonly [clockMs: number, workMs: number])[]): boolean {
  let workedMs = 1_000;
  const budget = createEvaluationBudget(RegExp, () => workedMs);
  // What an evaluation before has used is forgotten.
  budget.start();
  budget.spendSearchTime(10 * limits.searchMs);
  budget.start();
  for (const [clockMs, workMs] of searches) {
    workedMs += workMs;
    budget.spendSearchTime(clockMs);
  }
  return budget.timeout === Number.MIN_VALUE;
}

describe('compile/language/evaluation-budget', () => {
  const { searchMs } = limits;
  for (const [what, searches, expected] of [
    ['no search', [], false],
    ['searches within the limit', [[searchMs - 1, searchMs - 1]], false],
    ['one search beyond the limit', [[searchMs + 1, searchMs + 1]], true],
    ['many searches beyond the limit', Array(11).fill([searchMs / 10, searchMs / 10]), true],
    ['searches that mostly waited for the processor', Array(50).fill([searchMs / 2, 1]), false],
    ['such searches that work too long in the end', Array(50).fill([searchMs, 11]), true],
  ] as const) {
    test(`${what}: ${expected ? 'over' : 'goes on'}`, () => {
      assert.equal(isUsedUp(searches), expected);
    });
  }

  test('the steps are bounded', () => {
    const budget = createEvaluationBudget(RegExp, () => 0);
    budget.start();
    for (let step = 0; step < limits.steps; step++) assert.equal(budget.timeout, 5_000);
    assert.equal(budget.timeout, Number.MIN_VALUE);
  });
});
