import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { digestOfValue, type Loss } from './loss.ts';
import { restore } from './restore.ts';
import { schemaNode } from './schema-node.ts';

const byName = (fields: JsonObject): JsonObject => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', properties: { name: { type: 'string' }, ...fields } },
});
const node = schemaNode({
  type: 'object',
  properties: {
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    items: byName({}),
  },
});
const grouped = schemaNode({
  type: 'object',
  properties: { groups: byName({ items: byName({}) }) },
});

describe('conversion/restore', () => {
  test('items are removed, and others are replaced and added, each at its place', () => {
    const object = { items: ['a', 'b', 'c', 'd'].map((name) => ({ name })) };
    const removal = (name: string): Loss => ({
      path: ['items', { name }],
      existing: 1,
      was: digestOfValue({ name }),
    });
    const added: Loss = { path: ['items', { name: 'e' }], existing: 1, value: { name: 'e' } };
    const order: Loss = { path: ['items'], existing: 1, order: [{ name: 'd' }, { name: 'b' }] };
    const losses = [removal('a'), added, removal('c'), removal('c'), removal('x'), order];
    assert.deepEqual(restore(object, losses, node), {
      items: [{ name: 'd' }, { name: 'b' }, { name: 'e' }],
    });
    assert.equal(object.items.length, 4);
  });

  test('values inside each other, which a client has forged, cost no more than the object', () => {
    const levels = 50;
    const value = (depth: number): JsonObject =>
      depth === 0 ? { end: 'x'.repeat(1_000) } : { a: value(depth - 1) };
    const losses = Array.from({ length: levels }, (_, depth): Loss => {
      const isLast = depth === levels - 1;
      return {
        path: ['open', ...Array.from({ length: depth }, () => 'a')],
        existing: 1,
        value: 'changed',
        was: isLast ? digestOfValue(value(1)) : '',
      };
    });
    const object = { open: value(levels) };
    assert.equal(restore(object, losses, node), object);
    assert.notEqual(restore(object, losses.slice(-1), node), object);
  });

  test('orders that a client has forged sort a list once, by however many paths', () => {
    const reads = (paths: number) => {
      let count = 0;
      const item = (name: string) => ({
        get name() {
          count += 1;
          return name;
        },
      });
      const inner = Array.from({ length: 100 }, (_, index) => item(`i${index}`));
      const losses = Array.from({ length: paths }, (_, index): Loss => {
        return { path: ['groups', { name: 'g', index }, 'items'], existing: 3, order: [] };
      });
      restore({ groups: [{ name: 'g', items: inner }] }, losses, grouped);
      return count;
    };
    assert.ok(reads(1) >= 100);
    assert.equal(reads(50), reads(1));
  });
});
