import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import jsonata from 'jsonata';
import { createTestParser, expressionOf, testScope } from './test-scope.ts';

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
    ['a.b[c = 1]', false, false],
    ['a.b[]', false, false],
    ['a.*', false, false],
    ['(a.b)', false, false],
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

  test('give what JSONata gives, for random values and paths', async () => {
    const random = createRandom(7);
    const parser = createTestParser();
    const names = ['a', 'b', 'c'];
    for (let round = 0; round < 2_000; round++) {
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
