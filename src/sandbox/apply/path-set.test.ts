import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fromFieldsV1, toFieldsV1 } from './fields-v1.ts';
import { describePath } from './path-element.ts';
import {
  difference,
  differenceWithChildren,
  intersection,
  isEmptySet,
  type PathSet,
  pathSetOf,
  pathsOf,
  union,
} from './path-set.ts';

const ab = pathSetOf([['f:a'], ['f:a', 'f:b'], ['f:c', 'f:d']]);
const a = pathSetOf([['f:a']]);

describe('sandbox/apply/path-set', () => {
  const operations: readonly (readonly [string, PathSet, readonly string[]])[] = [
    [
      'a union has the paths of both',
      union(ab, pathSetOf([['f:e']])),
      ['.a', '.e', '.a.b', '.c.d'],
    ],
    ['an intersection has what is in both', intersection(ab, a), ['.a']],
    ['a difference keeps what lies below a removed member', difference(ab, a), ['.a.b', '.c.d']],
    ['unless it is taken away with its children', differenceWithChildren(ab, a), ['.c.d']],
  ];
  for (const [sentence, set, paths] of operations) {
    test(sentence, () => assert.deepEqual([...pathsOf(set)].map(describePath), paths));
  }

  test('operations do not change their operands', () => {
    const before = toFieldsV1(ab);
    union(ab, pathSetOf([['f:a', 'f:x']]));
    assert.deepEqual(toFieldsV1(ab), before);
  });

  test('a set without members anywhere is empty', () => {
    assert.ok(isEmptySet(difference(a, a)));
    assert.ok(!isEmptySet(a));
  });

  test('fieldsV1 round-trips, ordered as the server orders it', () => {
    const fields = {
      'f:b': { '.': {}, 'k:{"name":"a","port":9}': { 'f:x': {} }, 'k:{"name":"a","port":10}': {} },
      'f:c': { 'v:1': {}, 'v:10': {}, 'v:"a"': {}, 'v:true': {} },
    };
    const shuffled = {
      'f:c': { 'v:true': {}, 'v:"a"': {}, 'v:10': {}, 'v:1': {} },
      'f:b': { 'k:{"port":10,"name":"a"}': {}, 'k:{"port":9,"name":"a"}': { 'f:x': {} }, '.': {} },
      unknown: {},
    };
    assert.equal(JSON.stringify(toFieldsV1(fromFieldsV1(shuffled))), JSON.stringify(fields));
  });
});
