import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InterestTable } from './interest-table.ts';

describe('reconcile/interest-table', () => {
  test('knows who is interested in a topic, with the last detail', () => {
    const table = new InterestTable<number>();
    table.set('x', 'a', 1);
    table.set('x', 'a', 2);
    table.set('x', 'b', 3);
    assert.deepEqual(
      [...(table.of('x') ?? [])],
      [
        ['a', 2],
        ['b', 3],
      ],
    );
    assert.equal(table.of('y'), undefined);
  });

  test('drops what is not used any more and names the topics that nobody wants', () => {
    const table = new InterestTable<true>();
    table.set('x', 'a', true);
    table.set('y', 'a', true);
    table.set('y', 'b', true);
    table.set('z', 'a', true);
    assert.deepEqual(table.retain('a', new Set(['z'])), ['x']);
    assert.deepEqual([...table.topics()], ['y', 'z']);
    assert.deepEqual([...(table.of('y')?.keys() ?? [])], ['b']);
  });

  test('keeps nothing of a resource that is gone', () => {
    const table = new InterestTable<true>();
    table.set('x', 'a', true);
    table.retain('a', new Set());
    assert.deepEqual([...table.topics()], []);
    assert.deepEqual(table.retain('a', new Set()), []);
  });
});
