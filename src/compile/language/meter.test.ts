import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from './limits.ts';
import { Meter } from './meter.ts';
import { WorkBudget } from './work-budget.ts';

/** Are searches refused that took so long by the clock and so much work? */
function isRefused(searches: readonly (readonly [clockMs: number, workMs: number])[]): boolean {
  let workedMs = 1_000;
  const meter = new Meter(new WorkBudget(), { workedMs: () => workedMs });
  try {
    for (const [clockMs, workMs] of searches) {
      workedMs += workMs;
      meter.spendSearchTime(clockMs);
    }
    return false;
  } catch {
    return true;
  }
}

describe('compile/language/meter', () => {
  const { searchMs } = limits;
  for (const [what, searches, expected] of [
    ['no search', [], false],
    ['searches within the limit', [[searchMs - 1, searchMs - 1]], false],
    ['one search beyond the limit', [[searchMs + 1, searchMs + 1]], true],
    ['many searches beyond the limit', Array(11).fill([searchMs / 10, searchMs / 10]), true],
    ['searches that mostly waited for the processor', Array(50).fill([searchMs / 2, 1]), false],
    ['such searches that work too long in the end', Array(50).fill([searchMs, 11]), true],
  ] as const) {
    test(`${what}: ${expected ? 'refused' : 'allowed'}`, () => {
      assert.equal(isRefused(searches), expected);
    });
  }

  test('the steps of one evaluation are bounded', () => {
    const meter = new Meter();
    meter.spend(limits.steps);
    assert.throws(() => meter.spend(1), { code: 'limit-exceeded', message: /500000 steps/ });
  });

  test('what one evaluation makes is bounded', () => {
    const meter = new Meter();
    meter.produce(limits.producedBytes);
    assert.throws(() => meter.produce(1), { code: 'too-large', message: /16777216 bytes/ });
  });
});
