import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import type { StoredObject } from '../roles.ts';
import { ObjectStore } from './object-store.ts';

/** The rules one by one, to be read; `model.test.ts` is what proves them together. */
describe('kube/cache object store', () => {
  let store: ObjectStore;

  beforeEach(() => {
    store = new ObjectStore({
      selects: ({ metadata }) => metadata.labels?.mine !== 'no',
      onFault: (error) => {
        throw error;
      },
    });
  });

  function thing(name: string, version: string, rest: Partial<KubeObject['metadata']> = {}) {
    const metadata = { name, uid: `uid-${name}`, resourceVersion: version, ...rest };
    return {
      object: { apiVersion: 'v1', kind: 'Thing', metadata },
      cluster: undefined,
      appliedBy: [],
    };
  }

  function list(version: string, ...objects: readonly StoredObject[]): void {
    const listing = store.startList();
    listing.add(version, objects);
    listing.finish();
  }

  function answer(stored: StoredObject): void {
    const ticket = store.begin('', stored.object.metadata.name);
    store.storeResponse(stored, undefined);
    store.end(ticket);
  }

  const versions = () =>
    Object.fromEntries(
      [...store.list()].map(({ object: { metadata } }) => [
        metadata.name,
        metadata.resourceVersion,
      ]),
    );

  test('a list removes what it does not have', () => {
    list('10', thing('a', '3'), thing('b', '4'));
    list('12', thing('b', '11'));
    assert.deepEqual(versions(), { b: '11' });
  });

  test('a list keeps what is newer than itself', () => {
    const listing = store.startList();
    answer(thing('a', '12'));
    answer(thing('b', '13'));
    listing.add('10', [thing('a', '3')]);
    listing.finish();
    assert.deepEqual(versions(), { a: '12', b: '13' });
  });

  test('a list older than what was seen before it was asked for replaces everything', () => {
    list('90', thing('a', '80'), thing('b', '85'));
    answer(thing('c', '95'));
    list('60', thing('a', '50'));
    assert.deepEqual(versions(), { a: '50' });
    store.changed(thing('a', '61'));
    assert.deepEqual(versions(), { a: '61' });
  });

  test('a list that is broken off removes nothing', () => {
    list('10', thing('a', '3'), thing('b', '4'));
    store.startList().add('12', [thing('a', '11')]);
    assert.deepEqual(versions(), { a: '11', b: '4' });
  });

  test('a list replaces what reads differently at the same version, and only that', () => {
    const [kept, changed] = [thing('a', '3'), thing('b', '4')];
    list('10', kept, changed);
    const pruned = { ...changed, object: { ...changed.object, spec: {} } };
    list('10', thing('a', '3'), pruned);
    assert.equal(store.get('', 'a'), kept);
    assert.equal(store.get('', 'b'), pruned);
  });

  test('an object that is nested deeper than the stack is can be listed again, with the others of its kind', () => {
    const nested = (end: string): StoredObject => {
      const spec = JSON.parse(
        `${'{"a":'.repeat(100_000)}"${end}"${'}'.repeat(100_000)}`,
      ) as unknown;
      const { object, appliedBy } = thing('deep', '3');
      return { object: { ...object, spec }, cluster: undefined, appliedBy };
    };
    list('10', nested('x'), thing('a', '4'));
    list('11', nested('x'), thing('a', '11'));
    assert.deepEqual(versions(), { deep: '3', a: '11' });
    list('12', nested('y'), thing('a', '12'));
    assert.deepEqual(versions(), { deep: '3', a: '12' });
  });

  test('an event older than what is stored is ignored', () => {
    list('10', thing('a', '9'));
    answer(thing('a', '100'));
    store.changed(thing('a', '99'));
    store.deleted(thing('a', '99'));
    assert.deepEqual(versions(), { a: '100' });
  });

  test('an answer not newer than what the watch has reported is ignored', () => {
    list('10');
    store.bookmark('20');
    answer(thing('a', '20'));
    assert.deepEqual(versions(), {});
    answer(thing('a', '21'));
    assert.deepEqual(versions(), { a: '21' });
  });

  test('an answer that lost the label takes the object out until something newer has it', () => {
    list('10', thing('a', '9'));
    answer(thing('a', '12', { labels: { mine: 'no' } }));
    store.changed(thing('a', '11'));
    assert.deepEqual(versions(), {});
    store.deleted(thing('a', '12'));
    assert.equal(store.rememberedRemovals, 0);
    store.changed(thing('a', '13'));
    assert.deepEqual(versions(), { a: '13' });
  });

  test('what was gone by a 404 is gone until it is created again', () => {
    list('10', thing('a', '9'));
    const ticket = store.begin('', 'a');
    store.gone(ticket, undefined, undefined);
    store.end(ticket);
    store.changed(thing('a', '11'));
    assert.deepEqual(versions(), {});
    store.changed(thing('a', '13', { uid: 'another' }));
    assert.deepEqual(versions(), { a: '13' });
  });

  test('what was gone by a 404 is not brought back by an answer from before, whatever the watch reports meanwhile', () => {
    list('10', thing('a', '9'));
    const late = store.begin('', 'a');
    const ticket = store.begin('', 'a');
    store.gone(ticket, 'uid-a', undefined);
    store.end(ticket);
    // It left the selector, got its label back, which `late` was answered, and was deleted: the watch has reported the first.
    store.deleted(thing('a', '11'));
    store.storeResponse(thing('a', '12'), undefined);
    assert.deepEqual(versions(), {});
    store.end(late);
    assert.equal(store.rememberedRemovals, 0);
  });

  test('of objects that are gone under one key, none comes back by an answer from before', () => {
    list('10');
    const [first, second, late] = ['a', 'a', 'a'].map((name) => store.begin('', name));
    store.gone(first!, 'uid-1', undefined);
    store.gone(second!, 'uid-2', undefined);
    for (const uid of ['uid-1', 'uid-2']) store.storeResponse(thing('a', '12', { uid }), undefined);
    assert.deepEqual(versions(), {});
    store.storeResponse(thing('a', '13', { uid: 'uid-3' }), undefined);
    assert.deepEqual(versions(), { a: '13' });
    for (const ticket of [first!, second!, late!]) store.end(ticket);
    assert.equal(store.rememberedRemovals, 0);
  });

  test('versions without an order: the watch is believed, an answer is not', () => {
    list('x1', thing('a', 'k'));
    store.changed(thing('a', 'c'));
    assert.deepEqual(versions(), { a: 'c' });
    answer(thing('a', 'z'));
    assert.deepEqual(versions(), { a: 'c' });
    store.deleted(thing('a', 'b'));
    assert.deepEqual(versions(), {});
  });

  test('an index made late knows what is there', () => {
    list('10', thing('a', '9', { labels: { tier: 'web' } }));
    const byTier = () =>
      store.index('tier', ({ metadata }) => Object.values(metadata.labels ?? {}));
    assert.equal(byTier().get('web').length, 1);
    assert.equal(byTier(), byTier());
  });
});
