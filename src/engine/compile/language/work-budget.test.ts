import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ByteSemaphore } from '#util/byte-semaphore.ts';
import { type TimeSlicer, unlimitedTimeSlicer } from '#util/time-slicer.ts';
import {
  createTestParser,
  expressionOf,
  testScope,
} from '../../../../test/support/compile/test-scope.ts';
import { WorkBudget } from './work-budget.ts';

const limits = { steps: 1_000, memoryBytes: 1_024 * 1_024, cpuMs: 100 };
const root = { spec: { list: Array.from({ length: 5_000 }, (_, index) => index) } };
const dear = '${ $sum(spec.list[$ > 1]) }';

/** Turns that are over each time somebody looks, and count how often somebody was interrupted. */
function createBusyTurns(workedMs = 0) {
  const turns = { entered: 0, paused: 0 };
  const busy: TimeSlicer = {
    ...unlimitedTimeSlicer,
    acquire: () => {
      turns.entered += 1;
      return undefined;
    },
    release: () => workedMs,
    isExpired: () => true,
    yield: async () => {
      turns.paused += 1;
    },
  };
  return { turns, busy };
}

describe('compile/language/work-budget', () => {
  test('all evaluations of a reconcile share a number of steps, and fail when it is used up', async () => {
    const budget = new WorkBudget({ limits });
    const small = expressionOf('${ $sum([1, 2, 3]) }');
    const scope = testScope(root, { budget });
    let evaluated = 0;
    const all = async () => {
      for (; evaluated < 1_000; evaluated++) await small.evaluate(scope);
    };
    await assert.rejects(all, { code: 'budget-exceeded', message: /1000 evaluation steps/ });
    assert.ok(evaluated > 10 && budget.isExceeded);
    const again = new WorkBudget({ limits });
    let evaluatedAgain = 0;
    for (; !again.isExceeded; evaluatedAgain++) {
      await Promise.resolve(small.evaluate(testScope(root, { budget: again }))).catch(() => {});
    }
    // It is a matter of steps alone.
    assert.equal(evaluatedAgain, evaluated + 1);
  });

  test('a long evaluation pauses for others', async () => {
    const { turns, busy } = createBusyTurns();
    const budget = new WorkBudget({ timeSlicer: busy });
    await expressionOf(dear).evaluate(testScope(root, { budget }));
    assert.ok(turns.entered > 20, `${turns.entered} turns`);
  });

  test('a Handlebars template pauses between the elements of a list', async () => {
    const { turns, busy } = createBusyTurns();
    const budget = new WorkBudget({ timeSlicer: busy });
    const expression = expressionOf(
      '{{#each spec.list}}{{#if this}}{{#with this}}{{this}},{{/with}}{{/if}}{{/each}}{{spec.list.length}}',
    );
    const rendering = expression.evaluate(testScope(root, { budget }));
    assert.ok(rendering instanceof Promise);
    assert.equal(
      await rendering,
      [...root.spec.list.slice(1), ''].join(',') + root.spec.list.length,
    );
    assert.ok(turns.paused > 20, `${turns.paused} pauses`);
  });

  test('a failure after a pause has its position', async () => {
    const budget = new WorkBudget({ timeSlicer: createBusyTurns().busy });
    const text = '{{#each spec.list}}{{#each ../spec.list}}{{/each}}{{/each}}';
    const rendering = async () => expressionOf(text).evaluate(testScope(root, { budget }));
    await assert.rejects(rendering, {
      code: 'limit-exceeded',
      message: /100000 steps .* in "\{\{#each/,
    });
  });

  test('a long-running function pauses', async () => {
    const { turns, busy } = createBusyTurns();
    const budget = new WorkBudget({ timeSlicer: busy });
    const text = 'ab'.repeat(5_000);
    const expression = expressionOf('${ $replace(spec.text, "a", "") }');
    await expression.evaluate(testScope({ spec: { text } }, { budget }));
    assert.ok(turns.entered > 10, `${turns.entered} turns`);
  });

  test('repeated searches of a long string use up the CPU time of the reconcile', async () => {
    const limits = { steps: 1e6, memoryBytes: 1e6, cpuMs: 1_000 };
    const budget = new WorkBudget({ limits, timeSlicer: createBusyTurns(20).busy });
    const expression = expressionOf('${ $replace(spec.text, /(a.*z|a)/, "") }');
    const scope = testScope({ spec: { text: 'a'.repeat(60_000) } }, { budget });
    await assert.rejects(async () => expression.evaluate(scope), {
      code: 'budget-exceeded',
      message: /1000 ms of CPU time/,
    });
  });

  test('evaluations of one reconcile are sequential, and those of two interleave', async () => {
    const { busy } = createBusyTurns();
    const parser = createTestParser();
    const ended: string[] = [];
    const run = async (name: string, text: string, budget: WorkBudget) => {
      await expressionOf(text, parser).evaluate(testScope(root, { budget }));
      ended.push(name);
    };
    const hostile = new WorkBudget({ timeSlicer: busy });
    await Promise.all([
      run('dear', dear, hostile),
      run('behind it', '${ $sum([1]) }', hostile),
      run('of another', '${ $sum([2]) }', new WorkBudget({ timeSlicer: busy })),
    ]);
    assert.deepEqual(ended, ['of another', 'dear', 'behind it']);
  });

  test('CPU time is the last resort, and the message has the limit', async () => {
    const { busy } = createBusyTurns(30);
    const budget = new WorkBudget({ limits: { ...limits, steps: 1_000_000 }, timeSlicer: busy });
    const evaluate = async () => expressionOf(dear).evaluate(testScope(root, { budget }));
    await assert.rejects(evaluate, { code: 'budget-exceeded', message: /100 ms of CPU time/ });
  });

  test('a small reconcile never waits for memory, a large one does', async () => {
    const memory = new ByteSemaphore(limits.memoryBytes);
    const enough = { ...limits, steps: 10_000 };
    const [first, second, third] = [1, 2, 3].map(() => new WorkBudget({ limits: enough, memory }));
    for (const budget of [first, second]) budget?.addRendered(500_000);
    third?.addRendered(1_000);
    assert.deepEqual(
      [first, second, third].map((budget) => budget?.shouldPause),
      [true, true, false],
    );
    await first?.pause();
    let continued = false;
    const waits = second?.pause().then(() => {
      continued = true;
    });
    await Promise.resolve();
    assert.deepEqual([first?.shouldPause, continued], [false, false]);
    first?.release();
    await waits;
    assert.equal(continued, true);
    second?.release();
    assert.equal(memory.acquired, 0);
  });

  test('rendered bytes are limited; beyond the limit the budget is exceeded', () => {
    const budget = new WorkBudget({ limits: { ...limits, steps: 10_000 } });
    budget.addRendered(limits.memoryBytes);
    assert.equal(budget.isExceeded, false);
    assert.throws(() => budget.addRendered(1), { code: 'too-large', message: /1048576 bytes/ });
    assert.equal(budget.isExceeded, true);
  });

  test('rendered values cost steps by size, so that the event loop can run in between', () => {
    const budget = new WorkBudget({ limits, timeSlicer: createBusyTurns().busy });
    budget.addRendered(100);
    assert.equal(budget.shouldPause, false);
    budget.addRendered(200_000);
    assert.equal(budget.shouldPause, true);
    assert.throws(() => budget.addRendered(100_000), {
      code: 'budget-exceeded',
      message: /1000 evaluation steps/,
    });
  });
});
