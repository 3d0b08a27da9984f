import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseCrashes, parseMarks, recent, suspendedUntilMs } from './crash-history.ts';

const minute = 60_000;
const hour = 60 * minute;
const mark = { name: 'a', revision: 'r' };

describe('runtime/crash history', () => {
  for (const [what, timesMin, untilMin] of [
    ['no crash', [], undefined],
    ['two crashes', [0, 1], undefined],
    ['three in ten minutes', [0, 5, 10], 10 + 60],
    ['three in more than ten minutes', [0, 5, 11], undefined],
    ['three of four in ten minutes', [0, 8, 12, 16], 16 + 60],
    ['a fourth one when it is tried again', [0, 1, 2, 70], 70 + 120],
    ['a fifth one', [0, 1, 2, 70, 200], 200 + 240],
    ['as many as there can be: a day at most', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 9 + 24 * 60],
  ] as const) {
    test(`${what}: suspended ${untilMin === undefined ? 'not' : `until minute ${untilMin}`}`, () => {
      const untilMs = suspendedUntilMs(timesMin.map((min) => min * minute));
      assert.equal(untilMs, untilMin === undefined ? undefined : untilMin * minute);
    });
  }

  test('two processes that tell of the same crash tell of one; after two days it is forgotten', () => {
    const old = { ...mark, atMs: 0 };
    const young = { ...mark, atMs: 40 * hour };
    const twice = [young, old, { ...young }];
    assert.deepEqual(recent(twice, 41 * hour), [old, young]);
    assert.deepEqual(recent(twice, 49 * hour), [young]);
  });

  test('what was noted by a clock that has been set back since is forgotten', () => {
    const at = (atMs: number) => ({ ...mark, atMs });
    assert.deepEqual(recent([at(4 * minute), at(6 * minute)], 0), [at(4 * minute)]);
  });

  test('a file with something else in it is an empty history', () => {
    for (const text of ['', '{', 'null', '{}', '[1, null, {"name": "a"}]'])
      assert.deepEqual([parseCrashes(text), parseMarks(text)], [[], []], text);
    const crash = { ...mark, atMs: 1 };
    assert.deepEqual(parseCrashes(JSON.stringify([crash, mark])), [crash]);
    assert.deepEqual(parseMarks(JSON.stringify([mark])), [mark]);
  });
});
