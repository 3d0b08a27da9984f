import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freezeDeep } from './json.ts';

describe('util/freeze-deep', () => {
  test('freezes maps and lists all the way down, and gives the same tree', () => {
    const tree = { a: [{ b: { c: 1 } }], d: null, e: 'text' };
    assert.equal(freezeDeep(tree), tree);
    for (const part of [tree, tree.a, tree.a[0], tree.a[0]?.b]) assert.ok(Object.isFrozen(part));
  });

  for (const scalar of [null, undefined, 1, 'a', true]) {
    test(`gives ${String(scalar)} as it is`, () => assert.equal(freezeDeep(scalar), scalar));
  }

  test('ends for a tree that holds itself', () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    assert.ok(Object.isFrozen(freezeDeep(loop)));
  });
});
