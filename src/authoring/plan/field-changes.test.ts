import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldChanges } from './field-changes.ts';

const cases: readonly (readonly [string, unknown, unknown, readonly unknown[]])[] = [
  ['equal values', { a: { b: [1] } }, { a: { b: [1] } }, []],
  ['a value', { a: { b: 1 } }, { a: { b: 2 } }, [{ path: 'a.b', before: 1, after: 2 }]],
  ['an added map', {}, { a: { b: 1 } }, [{ path: 'a', after: { b: 1 } }]],
  ['a removed field', { a: 1, b: null }, { b: null }, [{ path: 'a', before: 1 }]],
  ['null in place of a value', { a: 1 }, { a: null }, [{ path: 'a', before: 1, after: null }]],
  [
    'a key that is no identifier',
    { 'example.com/a': 1 },
    { 'example.com/a': 2 },
    [{ path: 'example.com/a', before: 1, after: 2 }],
  ],
  [
    'such a key below a field',
    { labels: { 'example.com/a': 'x' } },
    { labels: { 'example.com/a': 'y' } },
    [{ path: 'labels["example.com/a"]', before: 'x', after: 'y' }],
  ],
  [
    'an item by its name, wherever it is',
    { list: [{ name: 'a', v: 1 }, { name: 'b' }] },
    { list: [{ name: 'b' }, { name: 'a', v: 2 }] },
    [{ path: 'list[name=a].v', before: 1, after: 2 }],
  ],
  [
    'an added and a removed item',
    { list: [{ name: 'a' }] },
    { list: [{ name: 'b' }] },
    [
      { path: 'list[name=b]', after: { name: 'b' } },
      { path: 'list[name=a]', before: { name: 'a' } },
    ],
  ],
  [
    'another order alone',
    { list: [{ name: 'a' }, { name: 'b' }] },
    { list: [{ name: 'b' }, { name: 'a' }] },
    [
      {
        path: 'list',
        before: [{ name: 'a' }, { name: 'b' }],
        after: [{ name: 'b' }, { name: 'a' }],
      },
    ],
  ],
  [
    'items without a key by their position',
    { list: ['a', 'b'] },
    { list: ['a', 'c', 'd'] },
    [
      { path: 'list[1]', before: 'b', after: 'c' },
      { path: 'list[2]', after: 'd' },
    ],
  ],
  [
    'items with the same name by their position',
    { list: [{ name: 'a', v: 1 }, { name: 'a' }] },
    { list: [{ name: 'a', v: 2 }, { name: 'a' }] },
    [{ path: 'list[0].v', before: 1, after: 2 }],
  ],
  ['a list in place of a map', { a: {} }, { a: [] }, [{ path: 'a', before: {}, after: [] }]],
];

describe('plan: field changes', () => {
  for (const [what, before, after, expected] of cases)
    test(what, () => {
      assert.deepEqual(fieldChanges(before, after), expected);
    });
});
