import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { equalScalars } from './equal-scalars.ts';

describe('reconcile/intent/equal-scalars', () => {
  for (const [format, want, have, isEqual] of [
    ['exact', 1, 1, true],
    ['exact', 1, '1', false],
    ['exact', '1000m', '1', false],
    ['quantity', '1000m', '1', true],
    ['quantity', 0.25, '250m', true],
    ['quantity', '1.0000000001', '1001m', true],
    ['quantity', '100u', '1m', true],
    ['quantity', '100u', '2m', false],
    ['quantity', '1Gi', '1G', false],
    ['quantity', 'x', 'y', false],
    ['quantity', 'x', 'x', true],
    ['quantity', '1', undefined, false],
    ['time', '2026-01-05T12:00:00+02:00', '2026-01-05T10:00:00Z', true],
    ['time', '2026-01-05T10:00:00.9Z', '2026-01-05T10:00:00Z', true],
    ['time', '2026-01-05T10:00:01Z', '2026-01-05T10:00:00Z', false],
    ['time', '2026-01-05T12:00:00.123456+02:00', '2026-01-05T10:00:00.123456Z', true],
    ['time', '2026-01-05T10:00:00.123457Z', '2026-01-05T10:00:00.123456Z', false],
    ['time', 'now', 'then', false],
    ['time', 'now', '2026-01-05T10:00:00Z', false],
    ['time', 5, '2026-01-05T10:00:00Z', false],
    ['base64', 'aGVs\nbG8=\r\n', 'aGVsbG8=', true],
    ['base64', 'aGVsbG8=', 'aGVsbG9=', false],
    ['base64', 7, 'Nw==', false],
  ] as const) {
    test(`${JSON.stringify(want)} and ${JSON.stringify(have)} ${isEqual ? 'are' : 'are not'} the same ${format}`, () => {
      assert.equal(equalScalars(want, have, format), isEqual);
    });
  }
});
