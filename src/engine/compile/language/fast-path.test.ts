import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import jsonata from 'jsonata';
import {
  createTestParser,
  expressionOf,
  testScope,
} from '../../../../test/support/compile/test-scope.ts';
import { ExpressionError } from './evaluation-error.ts';

describe('compile/language plain paths', () => {
  const root = { a: { b: { c: 1 }, list: [{ c: 1 }, { c: 2 }], 'x-y': 'z', none: null } };

  for (const [source, isPlainPath, isSync] of [
    ['a.b.c', true, true],
    ['a', true, true],
    ['$$.a.b', true, true],
    ['$item.name', true, true],
    ['$index', true, true],
    ['a.`x-y`', true, true],
    ['a.list', true, true],
    ['a.list.c', true, false],
    ['a.b.c ?? 0', false, true],
    ['a.none ?? a.list ?? "x"', false, true],
    ['"text"', false, true],
    ['"x-" & a.b.c & "-" & true', false, true],
    ['{"app": a.b.c, "l": [a.b, "x"]}', false, true],
    ['(a.b.c ?? 0) >= 1 and a.b.c < 3 ? "many" : "few"', false, true],
    ['$now()', false, true],
    ['a.b[c = 1]', false, false],
    ['a.b[]', false, false],
    ['a.*', false, false],
    ['(a.b)', false, true],
    ['a.b.c ?: 1', false, false],
    ['$uppercase("x")', false, false],
  ] as const) {
    test(`${source} is ${isPlainPath ? '' : 'not '}a plain path, evaluated ${isSync ? 'at once' : 'by JSONata'}`, async () => {
      const expression = expressionOf(`\${ ${source} }`);
      const result = expression.evaluate(testScope(root, { item: { name: 'n' }, index: 1 }));
      assert.deepEqual(
        [expression.isPlainPath, !(result instanceof Promise)],
        [isPlainPath, isSync],
      );
      await result;
    });
  }

  test('see own properties only', () => {
    for (const source of ['a.constructor', 'a.__proto__', 'toString', 'a.b.hasOwnProperty']) {
      assert.equal(expressionOf(`\${ ${source} }`).evaluate(testScope(root)), undefined, source);
    }
  });

  test('equal the slow path, for random operators and values', async () => {
    const random = createRandom(11);
    const parser = createTestParser();
    let fast = 0;
    for (let round = 0; round < 1_000; round++) {
      const source = randomOperation(random, 3);
      const input = {
        a: randomValue(random, 1),
        b: random(5),
        c: 'text',
        d: { e: randomValue(random, 2), f: random(2) === 0 },
      };
      const scope = testScope(input);
      const quick = await outcome(() => expressionOf(`\${ ${source} }`, parser).evaluate(scope));
      // A block of two has no fast path.
      const slow = await outcome(() =>
        expressionOf(`\${ (0; ${source}) }`, parser).evaluate(scope),
      );
      assert.deepEqual(quick.result, slow.result, `${source} of ${JSON.stringify(input)}`);
      if (quick.isSync) fast++;
    }
    assert.ok(fast > 100, `Only ${fast} were fast`);
  });

  test('equal JSONata, for random values and paths', async () => {
    const random = createRandom(7);
    const parser = createTestParser();
    const names = ['a', 'b', 'c'];
    for (let round = 0; round < 1_000; round++) {
      const value = randomValue(random, 4);
      const input =
        typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { a: value };
      const path = Array.from({ length: 1 + random(4) }, () => names[random(3)]).join('.');
      const source = round % 3 === 0 ? `${path} ?? "none"` : path;
      const scope = testScope(input as Record<string, unknown>);
      const actual = await expressionOf(`\${ ${source} }`, parser).evaluate(scope);
      const expected = await jsonata(path).evaluate(input);
      const missing = round % 3 === 0 ? 'none' : undefined;
      assert.deepEqual(
        actual,
        JSON.parse(JSON.stringify({ value: expected ?? undefined })).value ?? missing,
        `${source} of ${JSON.stringify(input)}`,
      );
    }
  });
});

async function outcome(
  evaluate: () => unknown,
): Promise<{ readonly result: unknown; readonly isSync: boolean }> {
  try {
    const value = evaluate();
    return { result: await value, isSync: !(value instanceof Promise) };
  } catch (error) {
    return { result: error instanceof ExpressionError ? error.code : error, isSync: false };
  }
}

function randomOperation(random: (below: number) => number, depth: number): string {
  const pick = (list: readonly string[]): string => list[random(list.length)] ?? '';
  const sub = () => randomOperation(random, depth - 1);
  if (depth === 0) {
    return pick([
      'a',
      'b',
      'c',
      'd.e',
      'd.f',
      'd.e.a',
      'x.y',
      '1',
      '0',
      '2.5',
      '"text"',
      '""',
      'true',
      'null',
    ]);
  }
  const operator = pick([
    '+',
    '-',
    '*',
    '/',
    '%',
    '<',
    '<=',
    '>',
    '>=',
    '=',
    '!=',
    '&',
    'and',
    'or',
  ]);
  return pick([
    `(${sub()} ${operator} ${sub()})`,
    `(${sub()} ${operator} ${sub()})`,
    `(${sub()} ${operator} ${sub()})`,
    `(${sub()} ?? ${sub()})`,
    `(${sub()} ? ${sub()} : ${sub()})`,
    `(${sub()} ? ${sub()})`,
    `{"k": ${sub()}, "l": ${sub()}}`,
    `[${sub()}, ${sub()}]`,
    `[[${sub()}], ${sub()}]`,
    sub(),
  ]);
}

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % below;
  };
}

function randomValue(random: (below: number) => number, depth: number): unknown {
  const kind = random(depth === 0 ? 4 : 10);
  if (kind === 0) return null;
  if (kind === 1) return random(3);
  if (kind === 2) return 'text';
  if (kind === 3) return false;
  if (kind < 6) return Array.from({ length: random(3) }, () => randomValue(random, depth - 1));
  return Object.fromEntries(
    ['a', 'b', 'c'].filter(() => random(4) > 0).map((key) => [key, randomValue(random, depth - 1)]),
  );
}
