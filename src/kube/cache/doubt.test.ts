import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Doubt, type DoubtLevel } from './doubt.ts';

const agreed = { isAsAgreed: true, isLost: false };
const early = { isAsAgreed: false, isLost: false };
const inOutage = { isAsAgreed: true, isLost: true };

type Step = (doubt: Doubt) => void;

const cases: readonly (readonly [string, readonly Step[], DoubtLevel])[] = [
  ['a watch that ended as agreed', [(doubt) => doubt.noteEnd(agreed)], 'none'],
  ['a watch that ended early', [(doubt) => doubt.noteEnd(early)], 'cut'],
  ['a watch that ended while the server is away', [(doubt) => doubt.noteEnd(inOutage)], 'outage'],
  ['an outage without a watch', [(doubt) => doubt.noteOutage({ isWatching: false })], 'outage'],
  ['an outage beside an open watch', [(doubt) => doubt.noteOutage({ isWatching: true })], 'none'],
  [
    'a watch that was silent from an outage to its end',
    [(doubt) => doubt.noteOutage({ isWatching: true }), (doubt) => doubt.noteEnd(agreed)],
    'outage',
  ],
  [
    'a watch that has delivered since an outage',
    [
      (doubt) => doubt.noteOutage({ isWatching: true }),
      (doubt) => doubt.noteEvent(),
      (doubt) => doubt.noteEnd(agreed),
    ],
    'none',
  ],
  [
    'a cut, and a server that is not older',
    [(doubt) => doubt.raise('cut'), (doubt) => doubt.notGoneBack()],
    'none',
  ],
  [
    'an outage, and a server that is not older',
    [(doubt) => doubt.raise('outage'), (doubt) => doubt.notGoneBack()],
    'outage',
  ],
  [
    'a cut after an outage',
    [(doubt) => doubt.raise('outage'), (doubt) => doubt.raise('cut')],
    'outage',
  ],
];

describe('kube/cache doubt', () => {
  for (const [what, steps, level] of cases) {
    test(`${what}: ${level}`, () => {
      const doubt = new Doubt(() => {});
      for (const step of steps) step(doubt);
      assert.equal(doubt.level, level);
    });
  }

  test('ends with a list that was asked for after the last outage, and tells of both', () => {
    const told: boolean[] = [];
    const doubt: Doubt = new Doubt(() => told.push(doubt.isOutdated));
    doubt.raise('outage');
    const { mark } = doubt;
    doubt.raise('outage');
    doubt.listed(mark);
    assert.deepEqual(told, [true]);
    doubt.listed(doubt.mark);
    assert.deepEqual(told, [true, false]);
  });
});
