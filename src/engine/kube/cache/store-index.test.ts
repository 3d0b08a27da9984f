import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import type { StoredObject } from '../roles.ts';
import { StoreIndex } from './store-index.ts';

function stored(name: string, tags: readonly string[]): StoredObject {
  const object: KubeObject = { apiVersion: 'v1', kind: 'Thing', metadata: { name }, tags };
  return { object, cluster: undefined, appliedBy: [] };
}

const byTag = (object: KubeObject) => object.tags as readonly string[];

describe('kube/cache store index', () => {
  test('finds objects by each of their values', () => {
    const index = new StoreIndex(byTag);
    const [a, b] = [stored('a', ['x', 'y']), stored('b', ['y', 'y'])];
    index.update('/a', undefined, a);
    index.update('/b', undefined, b);
    assert.deepEqual(index.get('x'), [a]);
    assert.deepEqual(index.get('y'), [a, b]);
    assert.deepEqual(index.get('z'), []);
  });

  test('follows a change of values and leaves no empty bucket', () => {
    const index = new StoreIndex(byTag);
    const [before, after] = [stored('a', ['x']), stored('a', ['y'])];
    index.update('/a', undefined, before);
    index.update('/a', before, after);
    assert.deepEqual([index.get('x'), index.get('y')], [[], [after]]);
    assert.equal(index.size, 1);
    index.update('/a', after, undefined);
    assert.equal(index.size, 0);
  });
});
