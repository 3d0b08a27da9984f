import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matchesRequirements } from './label-selector.ts';
import { formatLabelSelector, parseLabelSelector } from './label-selector-text.ts';

const cases: readonly (readonly [string, Readonly<Record<string, string>>, boolean])[] = [
  ['', {}, true],
  ['a=b', { a: 'b' }, true],
  ['a=b', { a: 'c' }, false],
  ['a=b', {}, false],
  ['a==b', { a: 'b' }, true],
  ['a=', { a: '' }, true],
  ['a=', {}, false],
  ['a!=b', { a: 'b' }, false],
  ['a!=b', { a: 'c' }, true],
  ['a!=b', {}, true],
  ['a in (b, c)', { a: 'c' }, true],
  ['a in (b,c)', { a: 'd' }, false],
  ['a notin (b,c)', { a: 'c' }, false],
  ['a notin (b,c)', {}, true],
  ['homeostat.dev/owner-uid', { 'homeostat.dev/owner-uid': '1' }, true],
  ['homeostat.dev/owner-uid', { other: '1' }, false],
  ['!a', {}, true],
  ['!a', { a: '' }, false],
  ['a=b,c in (d,e),!f', { a: 'b', c: 'e' }, true],
  ['a=b,c in (d,e),!f', { a: 'b', c: 'e', f: '' }, false],
  ['constructor', {}, false],
];

describe('util/label-selector-text', () => {
  for (const [selector, labels, expected] of cases) {
    test(`"${selector}" ${expected ? 'selects' : 'does not select'} ${JSON.stringify(labels)}`, () => {
      assert.equal(matchesRequirements(parseLabelSelector(selector), labels), expected);
    });
  }

  for (const [text, canonical] of [
    ['b=1,a', 'a,b=1'],
    ['a==1', 'a=1'],
    ['a in (1)', 'a=1'],
    ['a notin (1)', 'a!=1'],
    ['a in (c, b,b)', 'a in (b,c)'],
    ['a, a ', 'a'],
    ['! a', '!a'],
  ] as const) {
    test(`"${text}" and "${canonical}" are one selector`, () => {
      assert.equal(formatLabelSelector(parseLabelSelector(text)), canonical);
    });
  }

  for (const text of [
    'a,',
    ',a',
    'a=b c',
    'a in b',
    'a in (b',
    'a>1',
    '-a',
    'a=b,,c',
    `a=${'b'.repeat(64)}`,
    'A.io/b',
    'a in (b c)',
  ]) {
    test(`rejects "${text}"`, () => {
      assert.throws(() => parseLabelSelector(text), RangeError);
    });
  }
});
