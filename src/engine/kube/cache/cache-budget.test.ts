import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoredObject } from '../roles.ts';
import { CacheBudget } from './cache-budget.ts';
import { ObjectStore } from './object-store.ts';

function stored(name: string, version: number, length: number): StoredObject {
  const metadata = { name, uid: name, resourceVersion: String(version) };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'x'.repeat(length) } };
  return { object, cluster: undefined, appliedBy: [] };
}

function budgetOf(maxLength: number) {
  const seen = { exceeded: 0 };
  const budget = new CacheBudget({
    maxLength,
    onExceeded: () => {
      seen.exceeded += 1;
    },
  });
  const store = () => {
    const created = new ObjectStore({
      selects: () => true,
      onFault: (error) => assert.fail(String(error)),
    });
    return { created, stop: budget.follow(created) };
  };
  return { seen, store };
}

describe('kube/cache budget', () => {
  test('counts the objects of all stores together', () => {
    const { seen, store } = budgetOf(3_000);
    const [first, second] = [store().created, store().created];
    first.startList().add('1', [stored('a', 1, 1_000)]);
    second.startList().add('1', [stored('a', 1, 1_000)]);
    assert.equal(seen.exceeded, 0);
    second.changed(stored('b', 2, 1_000));
    assert.equal(seen.exceeded, 1);
  });

  test('each map and list counts, at any depth, and what cannot be measured exceeds the limit', () => {
    const object = (data: unknown) => {
      const { object: rest, appliedBy } = stored('a', 1, 0);
      return { object: { ...rest, data } as typeof rest, cluster: undefined, appliedBy };
    };
    let nested: unknown = {};
    for (let depth = 0; depth < 50_000; depth++) nested = { a: nested };
    const broken = {
      get a() {
        throw new RangeError('Maximum call stack size exceeded');
      },
    };
    for (const data of [Array.from({ length: 50_000 }, () => ({})), nested, broken]) {
      const { seen, store } = budgetOf(3_000_000);
      const { created, stop } = store();
      created.startList().add('1', [object(data)]);
      assert.equal(seen.exceeded, 1);
      stop();
    }
  });

  test('a change counts once, and what is deleted or no longer followed does not count', () => {
    const { seen, store } = budgetOf(3_000);
    const { created, stop } = store();
    for (let version = 1; version < 20; version++) created.changed(stored('a', version, 2_000));
    created.deleted(stored('a', 20, 2_000));
    created.changed(stored('b', 21, 2_000));
    stop();
    store()
      .created.startList()
      .add('1', [stored('a', 1, 2_000)]);
    assert.equal(seen.exceeded, 0);
  });
});
