import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deepEqual } from './deep-equal.ts';
import { freezeDeep } from './json.ts';

/** JSON of so many levels, as a server may send it; each end has its own text. */
function nested(levels: number, end: string, [open, close] = ['{"a":', '}']): unknown {
  return JSON.parse(`${open.repeat(levels)}"${end}"${close.repeat(levels)}`);
}

describe('util: JSON that is nested deeper than the stack is', () => {
  const levels = 100_000;

  for (const marks of [
    ['{"a":', '}'],
    ['[', ']'],
  ] as [string, string][]) {
    test(`${marks.join('')} is compared to its last level`, () => {
      const value = nested(levels, 'x', marks);
      assert.equal(deepEqual(value, nested(levels, 'x', marks)), true);
      assert.equal(deepEqual(value, nested(levels, 'y', marks)), false);
      assert.equal(deepEqual(value, nested(levels - 1, 'x', marks)), false);
    });
  }

  test('it is frozen to its last level', () => {
    let value = freezeDeep(nested(levels, 'x'));
    let frozen = 0;
    for (; typeof value === 'object' && value !== null; value = (value as { a?: unknown }).a) {
      if (Object.isFrozen(value)) frozen += 1;
    }
    assert.equal(frozen, levels);
  });
});
