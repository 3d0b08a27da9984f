import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { jsonLength } from './json.ts';

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
});
