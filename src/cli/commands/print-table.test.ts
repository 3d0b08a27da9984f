import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ageText, tableLines } from './print-table.ts';

describe('cli/commands/print-table', () => {
  test('pads all but the last column', () => {
    const lines = tableLines(['NAME', 'AGE'], [['a-long-name', '5s'], ['b']]);
    assert.deepEqual(lines, ['NAME          AGE', 'a-long-name   5s', 'b']);
  });

  const nowMs = Date.parse('2026-01-10T00:00:00Z');
  for (const [timestamp, text] of [
    ['2026-01-10T00:00:00Z', '0s'],
    ['2026-01-10T00:00:05Z', '0s'],
    ['2026-01-09T23:58:01Z', '119s'],
    ['2026-01-09T23:57:00Z', '3m'],
    ['2026-01-09T21:00:00Z', '3h'],
    ['2026-01-01T00:00:00Z', '9d'],
    [undefined, '<unknown>'],
    [null, '<unknown>'],
  ] as const) {
    test(`${timestamp} was ${text} ago`, () => assert.equal(ageText(timestamp, nowMs), text));
  }
});
