import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyMergePatch } from './json-patch.ts';

describe('sandbox/rest/merge-patch', () => {
  for (const [name, patch, result] of [
    ['sets and keeps', { b: 2 }, { a: { x: 1, y: 2 }, list: [1], b: 2 }],
    ['removes by null, at any depth', { a: { x: null } }, { a: { y: 2 }, list: [1] }],
    ['replaces lists', { list: [] }, { a: { x: 1, y: 2 }, list: [] }],
    [
      'replaces what is no object by one, without its nulls',
      { list: { z: null, k: 1 } },
      { a: { x: 1, y: 2 }, list: { k: 1 } },
    ],
    ['removes what is not there', { none: null }, { a: { x: 1, y: 2 }, list: [1] }],
  ] as const) {
    test(name, () => {
      assert.deepEqual(applyMergePatch({ a: { x: 1, y: 2 }, list: [1] }, patch), result);
    });
  }

  test('a key named like a prototype is a key', () => {
    const merged = applyMergePatch({}, JSON.parse('{"__proto__":{"x":1}}'));
    assert.deepEqual(Object.keys(merged), ['__proto__']);
  });
});
