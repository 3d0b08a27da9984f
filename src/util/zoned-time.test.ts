import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseLocalTime, timeOfLocal, timeZoneOf } from './zoned-time.ts';

describe('util/zoned-time', () => {
  for (const [text, localText, offsetHours] of [
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z', 0],
    ['2026-01-02t03:04:05.1234z', '2026-01-02T03:04:05.123Z', 0],
    ['2026-01-02 03:04:05-05:30', '2026-01-02T03:04:05.000Z', -5.5],
    ['2026-01-02T03:04', '2026-01-02T03:04:00.000Z', undefined],
    ['2024-02-29', '2024-02-29T00:00:00.000Z', undefined],
  ] as const) {
    test(`reads ${text}`, () => {
      const found = parseLocalTime(text);
      assert.equal(new Date(found?.localMs ?? 0).toISOString(), localText);
      const expected = offsetHours === undefined ? undefined : offsetHours * 3_600_000;
      assert.equal(found?.offsetMs, expected);
    });
  }

  for (const text of [
    '',
    '2026',
    '2026-13-01',
    '2026-02-29',
    '2026-01-02T25:00',
    '2026-01-02T03:04:60Z',
    '26-01-02',
  ]) {
    test(`"${text}" is no time`, () => {
      assert.equal(parseLocalTime(text), undefined);
    });
  }

  for (const [zone, local, utc] of [
    ['Europe/Berlin', '2026-03-29T01:59:59', '2026-03-29T00:59:59'],
    ['Europe/Berlin', '2026-03-29T02:30:00', '2026-03-29T01:30:00'],
    ['Europe/Berlin', '2026-03-29T03:00:00', '2026-03-29T01:00:00'],
    ['Europe/Berlin', '2026-10-25T02:30:00', '2026-10-25T00:30:00'],
    ['Europe/Berlin', '2026-10-25T03:00:00', '2026-10-25T02:00:00'],
    ['Australia/Lord_Howe', '2026-04-05T01:45:00', '2026-04-04T14:45:00'],
    ['+02:00', '2026-01-01T00:00:00', '2025-12-31T22:00:00'],
  ] as const) {
    test(`${local} in ${zone} is ${utc} in UTC`, () => {
      const found = timeZoneOf(zone);
      assert.ok(found);
      assert.equal(timeOfLocal(Date.parse(`${local}Z`), found), Date.parse(`${utc}Z`));
    });
  }

  test('an unknown zone is none', () => {
    assert.equal(timeZoneOf('Mars/Olympus'), undefined);
  });
});
