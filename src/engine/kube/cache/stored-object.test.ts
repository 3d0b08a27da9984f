import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { CacheEvent } from '../roles.ts';
import { ObjectStore } from './object-store.ts';
import { resolveQuery } from './query.ts';
import { createRetainFields } from './stored-object.ts';

const fullObjects = {
  labels: { matchLabels: { watched: 'yes' }, matchExpressions: [] },
  annotations: {
    matchLabels: {},
    matchExpressions: [{ key: 'note', operator: 'Exists', values: [] }],
  },
  finalizer: 'homeostat.dev/x',
} as const;

function stored(version: number, metadata: Partial<KubeObject['metadata']>) {
  const resourceVersion = String(version);
  return {
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion, ...metadata },
      data: { key: 'value' },
    },
    cluster: undefined,
    appliedBy: [],
  };
}

const matching = { labels: { watched: 'yes' }, annotations: { note: '' } };

describe('kube/cache/slim-object', () => {
  for (const [what, metadata, isWhole] of [
    ['what matches both selectors', matching, true],
    ['what matches labels only', { labels: { watched: 'yes' } }, false],
    ['what matches annotations only', { annotations: { note: '' } }, false],
    ['what matches nothing and has the finalizer', { finalizers: ['homeostat.dev/x'] }, true],
    ['what has the finalizer of somebody else', { finalizers: ['homeostat.dev/y'] }, false],
  ] as const) {
    test(`${what} is held ${isWhole ? 'whole' : 'as metadata only'}`, () => {
      const kept = createRetainFields(fullObjects)(stored(1, metadata));
      assert.equal('data' in kept.object, isWhole);
      assert.equal(kept.object.metadata.uid, 'u');
    });
  }

  test('a store holds lists, events and answers so, and reports a change as it is held', () => {
    const events: CacheEvent[] = [];
    const { selects, retainFields } = resolveQuery({ gvk: gvkOf('v1', 'ConfigMap'), fullObjects });
    const store = new ObjectStore({
      selects,
      onFault: assert.ifError,
      ...(retainFields && { retainFields }),
    });
    store.subscribe((event) => events.push(event));
    const listing = store.startList();
    listing.add('5', [stored(3, {})]);
    listing.finish();
    store.changed(stored(6, matching));
    store.storeResponse(stored(7, { labels: {} }), undefined);
    store.changed(stored(8, matching));
    const shapes = events.map(({ current }) => current !== undefined && 'data' in current.object);
    assert.deepEqual(shapes, [false, true, false, true]);
  });

  test('a list of what is held changes nothing', () => {
    const events: CacheEvent[] = [];
    const { selects, retainFields } = resolveQuery({ gvk: gvkOf('v1', 'ConfigMap'), fullObjects });
    const store = new ObjectStore({
      selects,
      onFault: assert.ifError,
      ...(retainFields && { retainFields }),
    });
    for (const version of ['5', '6']) {
      const listing = store.startList();
      listing.add(version, [stored(3, {})]);
      listing.finish();
      if (version === '5') store.subscribe((event) => events.push(event));
    }
    assert.equal(events.length, 1);
  });

  test('informers that hold different parts are not shared', () => {
    const gvk = gvkOf('v1', 'ConfigMap');
    assert.notEqual(resolveQuery({ gvk, fullObjects }).key, resolveQuery({ gvk }).key);
    assert.equal(
      resolveQuery({ gvk, fullObjects }).key,
      resolveQuery({ gvk, fullObjects: { ...fullObjects } }).key,
    );
  });
});
