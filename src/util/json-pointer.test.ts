import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pointerSteps, pointerTo } from './json.ts';

describe('util/json-pointer', () => {
  for (const steps of [[], ['spec'], ['a/b', '~', '~1'], [''], ['', ''], ['0', 'x y']]) {
    test(`the pointer to ${JSON.stringify(steps)} gives the same steps again`, () => {
      assert.deepEqual(pointerSteps(steps.reduce(pointerTo, '')), steps);
    });
  }

  for (const [pointer, step, expected] of [
    ['', 'spec', '/spec'],
    ['/spec', 'a/b', '/spec/a~1b'],
    ['/spec', '~1', '/spec/~01'],
    ['/items', 0, '/items/0'],
  ] as const) {
    test(`"${step}" under "${pointer}" is "${expected}"`, () => {
      assert.equal(pointerTo(pointer, step), expected);
    });
  }
});
