import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { differingPath, valueAt } from './object-change.ts';

const object = {
  status: { ready: 2, conditions: [{ type: 'A', status: 'True' }, { type: 'B' }] },
};

describe('reconcile/watch/object-change field values', () => {
  const rows = [
    [[], object],
    [['status', 'ready'], 2],
    [
      ['status', 'conditions', 'type'],
      ['A', 'B'],
    ],
    [
      ['status', 'conditions', 'status'],
      ['True', undefined],
    ],
    [['status', 'missing', 'below'], undefined],
    [['status', 'ready', 'below'], undefined],
  ] as const;
  for (const [path, expected] of rows) {
    test(`the value at "${path.join('.')}"`, () => {
      assert.deepEqual(valueAt(object, path), expected);
    });
  }

  test('only the paths that are read count', () => {
    const changed = { status: { ...object.status, ready: 3 } };
    assert.equal(differingPath(object, changed, [['status', 'conditions', 'type']]), undefined);
    assert.deepEqual(differingPath(object, changed, [['status', 'ready']]), ['status', 'ready']);
    assert.deepEqual(differingPath(object, changed, [[]]), []);
    assert.equal(differingPath(object, changed, []), undefined);
  });

  test('an object that is not there differs from one that has the field', () => {
    assert.deepEqual(differingPath(undefined, object, [['status', 'ready']]), ['status', 'ready']);
    assert.equal(differingPath(undefined, object, [['spec', 'size']]), undefined);
  });
});
