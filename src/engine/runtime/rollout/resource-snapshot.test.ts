import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { isEdited, revisionOf, snapshotOf } from './resource-snapshot.ts';

const counted: KubeObject = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'one', uid: 'u1', generation: 1 },
  spec: { size: 1 },
};
const uncounted: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'one', uid: 'u1' },
  data: { a: '1' },
};

function withMetadata(object: KubeObject, metadata: object): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

const at = { 'homeostat.dev/reconcile-at': 'now' };
const deletionTimestamp = '2026-01-01T00:00:00Z';

describe('runtime/rollout/resource-snapshot', () => {
  for (const [what, before, after, expected] of [
    ['a status', counted, { ...counted, status: { size: 1 } }, false],
    ['a label', counted, withMetadata(counted, { labels: { a: '1' } }), false],
    ['an edit', counted, withMetadata(counted, { generation: 2 }), true],
    ['another object of the name', counted, withMetadata(counted, { uid: 'u2' }), true],
    ['a wish for a look', counted, withMetadata(counted, { annotations: at }), true],
    ['a deletion', counted, withMetadata(counted, { generation: 2, deletionTimestamp }), false],
    [
      'a label of what counts no generations',
      uncounted,
      withMetadata(uncounted, { labels: { a: '1' } }),
      false,
    ],
    ['an edit of what counts no generations', uncounted, { ...uncounted, data: { a: '2' } }, true],
  ] as const) {
    test(`${what} ${expected ? 'brings the newest revision' : 'changes nothing'}`, () => {
      assert.equal(isEdited(snapshotOf(before), after), expected);
    });
  }

  test('the revision of a report', () => {
    assert.equal(revisionOf({ ...counted, status: { definitionRevision: 'abc' } }), 'abc');
    assert.equal(revisionOf(counted), undefined);
    assert.equal(revisionOf({ ...counted, status: 'odd' }), undefined);
  });
});
