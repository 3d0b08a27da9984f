import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseLabelQuery, SelectorError } from './label-query.ts';

const labels = { app: 'web', tier: '2' };

describe('sandbox/selector/label-query', () => {
  for (const [query, matches] of [
    ['', true],
    ['app=web', true],
    ['app==web , tier', true],
    ['app!=web', false],
    ['none!=web', true],
    ['app in (db, web)', true],
    ['app notin (web)', false],
    ['none notin (web)', true],
    ['!app', false],
    ['!none', true],
    ['none', false],
    ['tier>1', true],
    ['tier<2', false],
    ['app in ()', false],
    ['constructor', false],
  ] as const) {
    test(`"${query}" ${matches ? 'matches' : 'does not match'}`, () => {
      assert.equal(parseLabelQuery(query)(labels), matches);
    });
  }

  for (const [query, message] of [
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
    ['a=b,', "found '', expected: identifier after ','"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
  ] as const) {
    test(`"${query}" cannot be read: ${message}`, () => {
      assert.throws(() => parseLabelQuery(query), new SelectorError(message));
    });
  }
});
