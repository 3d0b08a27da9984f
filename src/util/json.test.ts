import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { jsonLength, pathLength } from './json.ts';

describe('util/json', () => {
  for (const value of [
    'text',
    12.5,
    null,
    [],
    {},
    [1, 'two', [true]],
    { a: { b: [{ c: 'x'.repeat(10_000) }] }, d: null },
  ]) {
    const text = JSON.stringify(value);
    test(`is at least, and not much more than, the length of ${text.slice(0, 40)}`, () => {
      const length = jsonLength(value);
      assert.ok(length >= text.length && length <= text.length + 150, String(length));
    });
  }

  for (const [value, length] of [
    ['text', 0],
    [{ a: 1, b: 'two' }, 0],
    [{ a: {}, b: [1, 2] }, 2],
    [{ a: { b: { c: {} } } }, 6],
    [{ a: [{}, { b: [] }] }, 1 + 2 + 2 + 3],
  ] as const) {
    test(`the paths of the lists and maps in ${JSON.stringify(value)} have ${length} steps`, () => {
      assert.equal(pathLength(value), length);
    });
  }
});
