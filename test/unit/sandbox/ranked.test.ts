import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { behaviours } from '../../contract/ranked/behaviours.ts';
import { shownCounts } from '../../contract/ranked/shown.ts';

describe('unit/sandbox/ranked', () => {
  const counts = shownCounts();

  for (const [index, behaviour] of behaviours.entries()) {
    const number = index + 1;
    test(`${number} is shown by the contract: ${behaviour}`, () => {
      assert.ok((counts.get(number) ?? 0) > 0);
    });
  }

  test('cases show what is listed only', () => {
    for (const number of counts.keys()) assert.ok(behaviours[number - 1] !== undefined);
  });
});
