import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Collection } from './object-store.ts';
import { StoredObject } from './stored-object.ts';

const object = (name: string, version = 1) =>
  new StoredObject({ metadata: { name, namespace: 'ns' } }, version);
const names = (collection: Collection) => collection.sorted().map(({ name }) => name);

describe('sandbox/store/collection', () => {
  test('stays sorted after any inserts, updates and deletes', () => {
    const collection = new Collection();
    const expected = new Map<string, number>();
    // Visits the names in a fixed, mixed order: 7 and 101 are coprime.
    for (let step = 0; step < 400; step++) {
      const name = `o${(step * 7) % 101}`;
      if (step % 5 === 4) {
        expected.delete(name);
        collection.delete(`ns/${name}`);
      } else {
        expected.set(name, step);
        collection.set(object(name, step));
      }
      // Not after each step: some writes happen while a list is shared, others while none is.
      if (step % 3 !== 0) continue;
      assert.deepEqual(names(collection), [...expected.keys()].sort());
    }
    assert.deepEqual(
      collection.sorted().map(({ name, version }) => [name, version]),
      [...expected].sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  });

  test('a list that was returned does not change', () => {
    const collection = new Collection();
    for (const name of ['b', 'c']) collection.set(object(name));
    const list = collection.sorted();
    collection.set(object('a'));
    collection.set(object('b', 2));
    collection.delete('ns/c');
    assert.deepEqual(
      list.map(({ name, version }) => [name, version]),
      [
        ['b', 1],
        ['c', 1],
      ],
    );
    assert.deepEqual(names(collection), ['a', 'b']);
  });

  test('deleting a missing key changes nothing', () => {
    const collection = new Collection();
    collection.set(object('a'));
    collection.sorted();
    collection.delete('ns/0');
    assert.deepEqual(names(collection), ['a']);
  });
});
