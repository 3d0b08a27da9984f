import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BytePool } from '../../util/byte-pool.ts';
import { endlessTurns, type Turns } from '../../util/work-turns.ts';
import { createTestParser, expressionOf, testScope } from './test-scope.ts';
import { WorkBudget } from './work-budget.ts';

const limits = { steps: 1_000, memoryBytes: 1_024 * 1_024, cpuMs: 100 };
const root = { spec: { list: Array.from({ length: 5_000 }, (_, index) => index) } };
const dear = '${ $sum(spec.list[$ > 1]) }';

/** Turns that are over each time somebody looks, and count how often somebody was interrupted. */
function createBusyTurns(workedMs = 0) {
  const turns = { entered: 0, paused: 0 };
  const busy: Turns = {
    ...endlessTurns,
    enter: () => {
      turns.entered += 1;
      return undefined;
    },
    leave: () => workedMs,
    isOver: () => true,
    pause: async () => {
      turns.paused += 1;
    },
  };
  return { turns, busy };
}

describe('compile/language/work-budget', () => {
  test('all evaluations of a reconcile together have so many steps, and from then on none has any', async () => {
    const budget = new WorkBudget({ limits });
    const small = expressionOf('${ $sum([1, 2, 3]) }');
    const scope = testScope(root, { budget });
    let evaluated = 0;
    const all = async () => {
      for (; evaluated < 1_000; evaluated++) await small.evaluate(scope);
    };
    await assert.rejects(all, { code: 'budget-exceeded', message: /1000 steps/ });
    assert.ok(evaluated > 10 && budget.isExceeded);
    const again = new WorkBudget({ limits });
    let evaluatedAgain = 0;
    for (; !again.isExceeded; evaluatedAgain++) {
      await Promise.resolve(small.evaluate(testScope(root, { budget: again }))).catch(() => {});
    }
    // It is a matter of steps alone.
    assert.equal(evaluatedAgain, evaluated + 1);
  });

  test('an evaluation gives way to others while it goes on', async () => {
    const { turns, busy } = createBusyTurns();
    const budget = new WorkBudget({ turns: busy });
    await expressionOf(dear).evaluate(testScope(root, { budget }));
    assert.ok(turns.entered > 20, `${turns.entered} turns`);
  });

  test('so does a Handlebars text, between the elements of a list', async () => {
    const { turns, busy } = createBusyTurns();
    const budget = new WorkBudget({ turns: busy });
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

  test('what fails in such a text after a pause says where', async () => {
    const budget = new WorkBudget({ turns: createBusyTurns().busy });
    const text = '{{#each spec.list}}{{#each ../spec.list}}{{/each}}{{/each}}';
    const rendering = async () => expressionOf(text).evaluate(testScope(root, { budget }));
    await assert.rejects(rendering, {
      code: 'limit-exceeded',
      message: /100000 steps .* in "\{\{#each/,
    });
  });

  test('so does a function that goes on for long by itself', async () => {
    const { turns, busy } = createBusyTurns();
    const budget = new WorkBudget({ turns: busy });
    const text = 'ab'.repeat(5_000);
    const expression = expressionOf('${ $replace(spec.text, "a", "") }');
    await expression.evaluate(testScope({ spec: { text } }, { budget }));
    assert.ok(turns.entered > 10, `${turns.entered} turns`);
  });

  test('evaluations of one reconcile take turns, and those of two do not wait for each other to end', async () => {
    const { busy } = createBusyTurns();
    const parser = createTestParser();
    const ended: string[] = [];
    const run = async (name: string, text: string, budget: WorkBudget) => {
      await expressionOf(text, parser).evaluate(testScope(root, { budget }));
      ended.push(name);
    };
    const hostile = new WorkBudget({ turns: busy });
    await Promise.all([
      run('dear', dear, hostile),
      run('behind it', '${ $sum([1]) }', hostile),
      run('of another', '${ $sum([2]) }', new WorkBudget({ turns: busy })),
    ]);
    assert.deepEqual(ended, ['of another', 'dear', 'behind it']);
  });

  test('CPU time is the last resort, and what is said has the number', async () => {
    const { busy } = createBusyTurns(30);
    const budget = new WorkBudget({ limits: { ...limits, steps: 1_000_000 }, turns: busy });
    const evaluate = async () => expressionOf(dear).evaluate(testScope(root, { budget }));
    await assert.rejects(evaluate, { code: 'budget-exceeded', message: /100 ms of CPU time/ });
  });

  test('a reconcile that holds little waits for nobody, another one until there is memory', async () => {
    const memory = new BytePool(limits.memoryBytes);
    const enough = { ...limits, steps: 10_000 };
    const [first, second, third] = [1, 2, 3].map(() => new WorkBudget({ limits: enough, memory }));
    for (const budget of [first, second]) budget?.hold(500_000);
    third?.hold(1_000);
    assert.deepEqual(
      [first, second, third].map((budget) => budget?.isDue),
      [true, true, false],
    );
    await first?.pause();
    let goesOn = false;
    const waits = second?.pause().then(() => {
      goesOn = true;
    });
    await Promise.resolve();
    assert.deepEqual([first?.isDue, goesOn], [false, false]);
    first?.end();
    await waits;
    assert.equal(goesOn, true);
    second?.end();
    assert.equal(memory.taken, 0);
  });

  test('all that is rendered has so many bytes; beyond them the resource is to rest', () => {
    const budget = new WorkBudget({ limits: { ...limits, steps: 10_000 } });
    budget.hold(limits.memoryBytes);
    assert.equal(budget.isExceeded, false);
    assert.throws(() => budget.hold(1), { code: 'too-large', message: /1048576 bytes/ });
    assert.equal(budget.isExceeded, true);
  });

  test('what is rendered costs steps by its size, so that the event loop has its turn in between', () => {
    const budget = new WorkBudget({ limits, turns: createBusyTurns().busy });
    budget.hold(100);
    assert.equal(budget.isDue, false);
    budget.hold(200_000);
    assert.equal(budget.isDue, true);
    assert.throws(() => budget.hold(100_000), { code: 'budget-exceeded', message: /1000 steps/ });
  });
});
