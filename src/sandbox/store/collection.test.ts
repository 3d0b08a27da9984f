import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Collection } from './collection.ts';
import { StoredObject } from './stored-object.ts';

const object = (name: string, version = 1) =>
  new StoredObject({ metadata: { name, namespace: 'ns' } }, version);
const names = (collection: Collection) => collection.sorted().map(({ name }) => name);

describe('sandbox/store/collection', () => {
  test('stays in order however objects come, change and go', () => {
    const collection = new Collection();
    const expected = new Map<string, number>();
    // A walk through names in a fixed, jumbled order: 7 is prime to 101.
    for (let step = 0; step < 400; step++) {
      const name = `o${(step * 7) % 101}`;
      if (step % 5 === 4) {
        expected.delete(name);
        collection.delete(`ns/${name}`);
      } else {
        expected.set(name, step);
        collection.set(object(name, step));
      }
      // Not after each step: some writes meet a list that somebody holds, others one that nobody does.
      if (step % 3 !== 0) continue;
      assert.deepEqual(names(collection), [...expected.keys()].sort());
    }
    assert.deepEqual(
      collection.sorted().map(({ name, version }) => [name, version]),
      [...expected].sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  });

  test('a list that was given out stays as it is', () => {
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

  test('what is not there is not deleted', () => {
    const collection = new Collection();
    collection.set(object('a'));
    collection.sorted();
    collection.delete('ns/0');
    assert.deepEqual(names(collection), ['a']);
  });
});
