import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { ObjectStore } from './object-store.ts';

const pods = '/pods';

function object(name: string, value = 0): JsonObject {
  return { kind: 'Pod', metadata: { namespace: 'ns', name }, value };
}

describe('sandbox/store/object-store', () => {
  test('every write has the next version as the resourceVersion of its object', () => {
    const store = new ObjectStore({ startVersion: 100 });
    const first = store.put(pods, object('a'));
    const second = store.put('/other', object('a'));
    assert.deepEqual([first.version, second.version, store.version], [101, 102, 102]);
    assert.deepEqual(first.object.metadata, {
      namespace: 'ns',
      name: 'a',
      resourceVersion: '101',
    });
  });

  test('a list is ordered by namespace and name', () => {
    const store = new ObjectStore({ startVersion: 0 });
    for (const name of ['b', 'c', 'a']) store.put(pods, object(name));
    assert.deepEqual(
      store.list(pods).map(({ name }) => name),
      ['a', 'b', 'c'],
    );
  });

  test('a collection can be read at an earlier version', () => {
    const store = new ObjectStore({ startVersion: 0 });
    store.put(pods, object('a', 1));
    store.put(pods, object('b', 1));
    const then = store.version;
    store.put(pods, object('a', 2));
    const b = store.get(pods, 'ns/b');
    assert.ok(b !== undefined);
    store.delete(pods, b);
    store.put(pods, object('c', 1));
    const values = store.listAt(pods, then)?.map(({ name, object: { value } }) => [name, value]);
    assert.deepEqual(values, [
      ['a', 1],
      ['b', 1],
    ]);
  });

  test('requests beyond the history return undefined', () => {
    const store = new ObjectStore({ startVersion: 0, historyLength: 4 });
    for (let index = 0; index < 20; index++) store.put(pods, object('a', index));
    assert.equal(store.listAt(pods, 1), undefined);
    assert.equal(store.eventsAfter(pods, 1), undefined);
    const known = store.eventsAfter(pods, store.oldestVersion);
    assert.equal(known?.length, store.version - store.oldestVersion);
    assert.ok(store.version - store.oldestVersion >= 4);
  });

  test('listeners receive changes in order, also those that listeners make', () => {
    const store = new ObjectStore({ startVersion: 0 });
    const seen: number[] = [];
    store.subscribe(({ last }) => {
      if (last.object.value === 1) store.put(pods, object('a', 2));
    });
    const cancel = store.subscribe(({ version }) => seen.push(version));
    store.put(pods, object('a', 1));
    assert.deepEqual(seen, [1, 2]);
    cancel();
    store.put(pods, object('a', 3));
    assert.deepEqual(seen, [1, 2]);
  });

  test('a deletion has its own version, which the deleted object has', () => {
    const store = new ObjectStore({ startVersion: 0 });
    const last = store.delete(pods, store.put(pods, object('a', 5)));
    assert.equal(last.version, 2);
    assert.equal((last.object.metadata as JsonObject).resourceVersion, '2');
    const [, event] = store.eventsAfter(pods, 0) ?? [];
    assert.equal(event?.after, undefined);
    assert.equal(event?.before?.version, 1);
  });
});
